// The Memory node, if there is one. Runs when a memory is opened, before every load, and once an ask over the whole graph of propositions.
MATCH (m:Memory {id: 'memory'})
RETURN m.schema AS schema, m.embedder AS embedder, m.dimension AS dimension, m.created AS created, m.version AS version, m.indexed AS indexed,
  coalesce(m.vectors, 0) AS vectors
