// What a memory is made with and how much it holds; no row where there is none. Runs once a memory for `memories`.
MATCH (m:Memory {id: 'memory'})
WHERE m.schema IS NOT NULL
RETURN m.embedder AS embedder, m.created AS created, COUNT { MATCH (d:Document) WHERE d.id IS NOT NULL } AS documents, COUNT { MATCH (:Passage) } AS passages
