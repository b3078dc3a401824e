// What is written in some passages. $passages. Runs once a batch of runs.
UNWIND $passages AS id
MATCH (p:Passage {id: id})
RETURN p.id AS id, p.title AS title, p.text AS text
