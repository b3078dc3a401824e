// Vectors of propositions, packed (store/rows.py). $ids. Runs once an ask of `proprag`.
UNWIND $ids AS id
MATCH (f:Proposition {id: id})
RETURN f.id AS id, f.vector AS vector
