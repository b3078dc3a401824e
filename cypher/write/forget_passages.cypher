// Deletes passages. $passages.
UNWIND $passages AS id
MATCH (p:Passage {id: id})
DETACH DELETE p
