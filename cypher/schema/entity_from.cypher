// Dates in order: MATCH (e:Entity) WHERE e.from >= '1900-01-01' uses this. Runs once, in migration 1.
CREATE INDEX entity_from IF NOT EXISTS FOR (n:Entity) ON (n.from)
