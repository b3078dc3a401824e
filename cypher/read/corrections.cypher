// Corrections in the order in which they were made. $documents: those that concern these alone, and names, which concern all; null for all.
// `lapsed`: the passage that it supersedes is in its document no more. Runs once a batch of a load.
MATCH (c:Correction)
WHERE $documents IS NULL OR size(c.places) = 0 OR any(place IN c.places WHERE place IN $documents)
RETURN c.id AS id, c.action AS action, c.target AS target, c.value AS value, c.places AS places, c.texts AS texts, c.by AS by, c.at AS at,
  c.action = 'supersede' AND NOT EXISTS { MATCH (p:Passage)-[:SUPERSEDED_IN]->(d:Document) WHERE d.id = c.places[0] AND p.text = c.texts[0] } AS lapsed
ORDER BY at, id
