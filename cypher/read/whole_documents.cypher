// All of some documents that can be wrong, a row a passage. $ids. `things` counts what stands in the passage and `links` where that leads, as the lists of
// relationships have it; what follows is read, so that what cannot be is missing there. `whole_links` counts the links that can. Runs for `doctor --deep`, streamed.
UNWIND $ids AS id
MATCH (d:Document {id: id})<-[o:PART_OF]-(p:Passage)
CALL (p) {
  MATCH (p)<-[:IN]-()
  RETURN count(*) AS things
}
CALL (p) {
  MATCH (p)<-[:IN]-()-[:REFERS_TO|PLAYS|ANSWERED_BY|ABOUT|MENTIONS|RELATES_BY|HOLDS]->()
  RETURN count(*) AS links
}
CALL (p) {
  MATCH (p)<-[:IN]-()-[r:REFERS_TO|PLAYS|ANSWERED_BY|ABOUT|MENTIONS|RELATES_BY|HOLDS]->(y)
  WITH properties(r) AS read, coalesce(y.id, y.name) AS end
  RETURN count(end) AS whole_links, count(read) AS read_links
}
CALL (p) {
  MATCH (p)<-[i:IN]-(e:Entity)-[r:REFERS_TO]->(c:Concept)
  RETURN collect({id: e.id, name: e.name, concept: c.id, place: properties(i), link: properties(r)}) AS entities
}
CALL (p) {
  MATCH (p)<-[i:IN]-(v:VerbPhrase)
  RETURN collect({id: v.id, phrase: v.phrase, vector: v.vector, place: properties(i)}) AS phrases
}
CALL (p) {
  MATCH (p)<-[i:IN]-(q:QAPair)<-[a:ASKS]-(v:VerbPhrase)
  RETURN collect({id: q.id, question: q.question, answers: q.answers, vector: q.vector, embedding: q.embedding, place: properties(i), asks: properties(a)}) AS pairs
}
CALL (p) {
  MATCH (p)<-[i:IN]-(f:Proposition)
  RETURN collect({id: f.id, text: f.text, relation: f.relation, embedding: f.embedding, place: properties(i)}) AS facts
}
CALL (p) {
  MATCH (p)<-[i:IN]-(r:Run)
  OPTIONAL MATCH (r)-[h:HOLDS]->(x)
  WITH r, i, collect([h.position, x.id, h.number]) AS held
  RETURN collect({id: r.id, edges: r.edges, held: held, place: properties(i)}) AS runs
}
RETURN d.id AS document, properties(o) AS part, p.id AS id, p.position AS position, p.title AS title, p.text AS text, p.vector AS vector, p.embedding AS embedding,
  things, links, whole_links, read_links, entities, phrases, pairs, facts, runs
