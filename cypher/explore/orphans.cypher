// What hangs loose: nodes that nothing supports, by kind, with one of each.
// A sound memory has none; gswgraph doctor --mend removes them.
CALL () {
  MATCH (p:Passage) OPTIONAL MATCH (p)-[r:PART_OF]->() WITH p, r WHERE r IS NULL
  RETURN 'passage of no document' AS what, count(p) AS nodes, min(p.id) AS one
  UNION ALL
  MATCH (d:Document) OPTIONAL MATCH (d)<-[r:PART_OF]-() WITH d, r WHERE r IS NULL
  RETURN 'document without a passage' AS what, count(d) AS nodes, min(d.source) AS one
  UNION ALL
  MATCH (e:Entity) OPTIONAL MATCH (e)-[r:IN]->() WITH e, r WHERE r IS NULL
  RETURN 'name in no passage' AS what, count(e) AS nodes, min(e.name) AS one
  UNION ALL
  MATCH (c:Concept) OPTIONAL MATCH (c)<-[r:REFERS_TO|NAMES]-() WITH c, r WHERE r IS NULL
  RETURN 'concept of no name' AS what, count(c) AS nodes, min(c.name) AS one
  UNION ALL
  MATCH (v:VerbPhrase) OPTIONAL MATCH (v)-[r:IN]->() WITH v, r WHERE r IS NULL
  RETURN 'verb phrase in no passage' AS what, count(v) AS nodes, min(v.phrase) AS one
  UNION ALL
  MATCH (q:QAPair) OPTIONAL MATCH (q)-[r:IN]->() WITH q, r WHERE r IS NULL
  RETURN 'pair in no passage' AS what, count(q) AS nodes, min(q.question) AS one
  UNION ALL
  MATCH (f:Proposition) OPTIONAL MATCH (f)-[r:IN]->() WITH f, r WHERE r IS NULL
  RETURN 'fact in no passage' AS what, count(f) AS nodes, min(f.text) AS one
  UNION ALL
  MATCH (r:Role) WHERE NOT EXISTS { (r)<-[:PLAYS]-() }
  RETURN 'role of nobody' AS what, count(r) AS nodes, min(r.name) AS one
}
WITH what, nodes, one
WHERE nodes > 0
RETURN what, nodes, one
ORDER BY nodes DESC, what
LIMIT 25
