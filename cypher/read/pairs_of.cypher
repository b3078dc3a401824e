// The answered pairs of some passages, as lists side by side. $passages: ids. One row. Vectors are packed (store/rows.py). Runs once an ask of `fusion` without a plan.
UNWIND $passages AS id
MATCH (p:Passage {id: id})<-[:IN]-(pair:QAPair)
WHERE size(pair.answers) > 0
RETURN collect(pair.answers) AS answers, collect(p.id) AS passages, collect(pair.vector) AS vectors
