// All of some documents that an export writes, a row a passage in the order of $ids and of the passages. $ids: of documents.
// Lists are in no order; a role of an entity without any is null. Runs once a batch of an export, and is streamed.
UNWIND range(0, size($ids) - 1) AS n
MATCH (d:Document {id: $ids[n]})<-[:PART_OF]-(p:Passage)
WHERE d.status = 'ready'
CALL (p) {
  MATCH (p)<-[i:IN]-(e:Entity)-[:REFERS_TO]->(c:Concept)
  OPTIONAL MATCH (e)-[plays:PLAYS]->(r:Role)
  WITH e, c, i, collect({role: r.name, states: plays.states}) AS roles
  RETURN collect({name: e.name, key: c.id, title: i.title, description: e.description, from: e.from, to: e.to, roles: roles}) AS entities
}
CALL (p) {
  MATCH (p)<-[:IN]-(v:VerbPhrase)
  OPTIONAL MATCH (v)-[:ASKS]->(q:QAPair)
  WITH v, collect({question: q.question, answers: q.answers}) AS pairs
  RETURN collect({id: v.id, phrase: v.phrase, pairs: pairs}) AS phrases
}
RETURN n, d.source AS source, d.title AS document_title, d.loader AS loader, d.extractor AS extractor,
  p.position AS position, p.title AS title, p.text AS text, entities, phrases
ORDER BY n, position
