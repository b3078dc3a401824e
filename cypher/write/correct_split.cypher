// Moves the entities of some documents from one concept to another, and what their passages name. $rows: [{from: id of the concept, key: of the new one, value: its name, places: documents}].
UNWIND $rows AS row
MATCH (old:Concept {id: row.from})
MERGE (new:Concept {id: row.key})
ON CREATE SET new.name = row.value, new.passages = 0, new.joins = true
WITH row, old, new
UNWIND row.places AS document
MATCH (:Document {id: document})<-[:PART_OF|SUPERSEDED_IN]-(p:Passage)
CALL (p, old, new) {
  MATCH (p)<-[:IN]-(e:Entity)-[refers:REFERS_TO]->(old)
  DELETE refers
  MERGE (e)-[:REFERS_TO]->(new)
  RETURN count(*) AS entities
}
CALL (p, old, new) {
  MATCH (p)-[names:NAMES]->(old)
  MERGE (p)-[other:NAMES]->(new)
  ON CREATE SET other.title = names.title, other.weight = names.weight, other.name = names.name, other.counted = names.counted, other.opens = names.opens
  DELETE names
  RETURN count(*) AS named
}
RETURN count(*) AS passages
