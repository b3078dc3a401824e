// Propositions by id. $ids. Runs once a traced ask of PropRAG, and once a depth of a beam search that embeds its paths.
UNWIND $ids AS id
MATCH (f:Proposition {id: id})-[:IN]->(p:Passage)
RETURN f.id AS id, f.text AS text, p.id AS passage
