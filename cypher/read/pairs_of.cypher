// The answered pairs of some passages, a row each. $passages: ids. Vectors are packed (store/rows.py). Runs once an ask of `fusion` without a plan.
UNWIND $passages AS id
MATCH (p:Passage {id: id})<-[:IN]-(pair:QAPair)
WHERE size(pair.answers) > 0
RETURN pair.answers AS answers, p.id AS passage, pair.vector AS vector
