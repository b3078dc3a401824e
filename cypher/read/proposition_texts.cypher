// Propositions by id. $ids. Runs once a depth of a beam search that embeds its paths.
UNWIND $ids AS id
MATCH (f:Proposition {id: id})
RETURN f.id AS id, f.text AS text
