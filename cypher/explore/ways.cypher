// How two names are connected in texts: the shortest ways of at most four passages.
// Each passage holds both ends of its step. Dates, numbers and common words join nothing. Of a name in more than 500 documents or passages, 500 are looked at.
// $concept: a name; without one, the name (no date, number or common word) that occurs in most passages
// $other: another name; without one, of the names two steps away the one that occurs in most passages
// $common: a name in more passages than this joins nothing
WITH null AS concept, null AS other, 50 AS common
CALL (concept) {
  MATCH (a:Concept {id: toLower(concept)})
  RETURN a
  UNION
  MATCH (a:Concept)
  WHERE concept IS NULL
  WITH a ORDER BY a.passages DESC, a.id LIMIT 500
  RETURN a ORDER BY NOT a.joins, a.passages DESC, a.id LIMIT 1
}
CALL (a, common) {
  MATCH (a)<-[link:REFERS_TO|NAMES]-(x)
  WHERE link.counted OR link.weight IS NULL
  WITH a, x, common LIMIT 500
  MATCH (x)-[:IN*0..1]->(:Passage)<-[:IN*0..1]-()-[link:REFERS_TO|NAMES]->(m:Concept)
  WHERE (link.counted OR link.weight IS NULL) AND m.id <> a.id AND m.passages <= common AND m.joins
  WITH DISTINCT m LIMIT 500
  RETURN collect(m) AS near_a
}
CALL (a, other, common, near_a) {
  MATCH (b:Concept {id: toLower(other)})
  RETURN b
  UNION
  WITH a, common, near_a, [m IN near_a | m.id] AS ids
  WHERE other IS NULL
  UNWIND near_a[..100] AS m
  MATCH (m)<-[link:REFERS_TO|NAMES]-()-[:IN*0..1]->(:Passage)<-[:IN*0..1]-()-[last:REFERS_TO|NAMES]->(b:Concept)
  WHERE (link.counted OR link.weight IS NULL) AND (last.counted OR last.weight IS NULL) AND b.id <> a.id AND NOT b.id IN ids AND b.passages <= common AND b.joins
  RETURN DISTINCT b ORDER BY b.passages DESC, b.id LIMIT 1
}
CALL (b, common) {
  MATCH (b)<-[link:REFERS_TO|NAMES]-(x)
  WHERE link.counted OR link.weight IS NULL
  WITH b, x, common LIMIT 500
  MATCH (x)-[:IN*0..1]->(:Passage)<-[:IN*0..1]-()-[link:REFERS_TO|NAMES]->(m:Concept)
  WHERE (link.counted OR link.weight IS NULL) AND m.id <> b.id AND m.passages <= common AND m.joins
  WITH DISTINCT m LIMIT 500
  RETURN collect(m) AS near_b
}
WITH a, b, common, near_a, near_b, [m IN near_b | m.id] AS ids_b
CALL (a, b, near_a, ids_b) {
  WITH CASE WHEN a.passages < b.passages THEN a ELSE b END AS rare, CASE WHEN a.passages < b.passages THEN b ELSE a END AS often, a, b
  MATCH (rare)<-[link:REFERS_TO|NAMES]-()-[:IN*0..1]->(:Passage)<-[:IN*0..1]-()-[last:REFERS_TO|NAMES]->(often)
  WHERE (link.counted OR link.weight IS NULL) AND (last.counted OR last.weight IS NULL)
  WITH DISTINCT a, b
  RETURN [a, b] AS way
  UNION
  UNWIND near_a AS m
  WITH a, b, m, ids_b
  WHERE m.id IN ids_b
  RETURN [a, m, b] AS way
  UNION
  UNWIND near_a AS m
  MATCH (m)<-[link:REFERS_TO|NAMES]-()-[:IN*0..1]->(:Passage)<-[:IN*0..1]-()-[last:REFERS_TO|NAMES]->(n:Concept)
  WHERE (link.counted OR link.weight IS NULL) AND (last.counted OR last.weight IS NULL) AND n.id IN ids_b AND NOT n.id IN [a.id, b.id, m.id] AND m.id <> b.id
  WITH DISTINCT a, b, m, n LIMIT 1000
  RETURN [a, m, n, b] AS way
  UNION
  RETURN null AS way
}
WITH a, b, common, near_a, near_b, collect(way) AS ways
CALL (a, b, common, near_a, near_b, ways) {
  UNWIND ways AS way
  RETURN way
  UNION
  WITH a, b, common, near_a, near_b, ways
  WHERE size(ways) = 0
  CALL (a, b, common, near_a, near_b) {
    UNWIND near_a AS m
    MATCH (m)<-[link:REFERS_TO|NAMES]-()-[:IN*0..1]->(:Passage)<-[:IN*0..1]-()-[last:REFERS_TO|NAMES]->(k:Concept)
    WHERE (link.counted OR link.weight IS NULL) AND (last.counted OR last.weight IS NULL) AND NOT k.id IN [a.id, b.id] AND k.passages <= common AND k.joins
    WITH DISTINCT k, m LIMIT 20000
    RETURN k, m AS before, null AS after
    UNION
    UNWIND near_b AS m
    MATCH (m)<-[link:REFERS_TO|NAMES]-()-[:IN*0..1]->(:Passage)<-[:IN*0..1]-()-[last:REFERS_TO|NAMES]->(k:Concept)
    WHERE (link.counted OR link.weight IS NULL) AND (last.counted OR last.weight IS NULL) AND NOT k.id IN [a.id, b.id] AND k.passages <= common AND k.joins
    WITH DISTINCT k, m LIMIT 20000
    RETURN k, null AS before, m AS after
  }
  WITH a, b, k, collect(before) AS before, collect(after) AS after
  WHERE size(before) > 0 AND size(after) > 0
  RETURN [a, before[0], k, after[0], b] AS way
}
WITH collect(way) AS ways, min(size(way)) AS shortest
UNWIND [way IN ways WHERE size(way) = shortest] AS way
WITH way, reduce(text = '', c IN way | text + CASE text WHEN '' THEN '' ELSE ' - ' END + c.name) AS names ORDER BY names LIMIT 25
WITH collect(way) AS ways
UNWIND range(0, size(ways) - 1) AS chain
UNWIND range(0, size(ways[chain]) - 2) AS place
WITH chain, place, ways[chain][place] AS u, ways[chain][place + 1] AS v
WITH chain, place, u, v, CASE WHEN u.passages < v.passages THEN u ELSE v END AS rare, CASE WHEN u.passages < v.passages THEN v ELSE u END AS often
CALL (rare, often) {
  MATCH path = (rare)<-[link:REFERS_TO|NAMES]-()-[:IN*0..1]->(p:Passage)<-[:IN*0..1]-()-[last:REFERS_TO|NAMES]->(often)
  WHERE (link.counted OR link.weight IS NULL) AND (last.counted OR last.weight IS NULL)
  RETURN p, path
  ORDER BY p.title, p.position, p.id LIMIT 1
}
RETURN chain + 1 AS chain, place + 1 AS step, u.name AS from, v.name AS to, p.title AS title, trim(reduce(text = '', word IN split(p.text, ' ')[..30] | text + word + ' ')) AS passage
  , path AS drawing
ORDER BY chain, step
LIMIT 60
