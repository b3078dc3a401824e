// What hangs loose: nodes that nothing supports, by kind, with one of each.
// A sound memory has none; gswgraph doctor --mend removes them.
CALL () {
  MATCH (p:Passage) WHERE NOT EXISTS { (p)-[:PART_OF]->(:Document) }
  RETURN 'passage of no document' AS what, count(p) AS nodes, min(p.id) AS one
  UNION ALL
  MATCH (d:Document) WHERE NOT EXISTS { (d)<-[:PART_OF]-(:Passage) }
  RETURN 'document without a passage' AS what, count(d) AS nodes, min(d.source) AS one
  UNION ALL
  MATCH (e:Entity) WHERE NOT EXISTS { (e)-[:IN]->(:Passage) }
  RETURN 'name in no passage' AS what, count(e) AS nodes, min(e.name) AS one
  UNION ALL
  MATCH (c:Concept) WHERE NOT EXISTS { (c)<-[:REFERS_TO]-(:Entity) }
  RETURN 'concept of no name' AS what, count(c) AS nodes, min(c.name) AS one
  UNION ALL
  MATCH (v:VerbPhrase) WHERE NOT EXISTS { (v)-[:IN]->(:Passage) }
  RETURN 'verb phrase in no passage' AS what, count(v) AS nodes, min(v.phrase) AS one
  UNION ALL
  MATCH (q:QAPair) WHERE NOT EXISTS { (q)-[:IN]->(:Passage) }
  RETURN 'pair in no passage' AS what, count(q) AS nodes, min(q.question) AS one
  UNION ALL
  MATCH (f:Proposition) WHERE NOT EXISTS { (f)-[:IN]->(:Passage) }
  RETURN 'fact in no passage' AS what, count(f) AS nodes, min(f.text) AS one
  UNION ALL
  MATCH (r:Role) WHERE NOT EXISTS { (r)<-[:PLAYS]-(:Entity) }
  RETURN 'role of nobody' AS what, count(r) AS nodes, min(r.name) AS one
}
WITH what, nodes, one
WHERE nodes > 0
RETURN what, nodes, one
ORDER BY nodes DESC, what
LIMIT 25
