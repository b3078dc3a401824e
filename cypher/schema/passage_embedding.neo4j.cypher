// Nearest passages by cosine. Every option is given because the defaults differ between versions; $dimensions is put in as a whole number. Runs once, after the first rows.
CREATE VECTOR INDEX passage_embedding IF NOT EXISTS FOR (n:Passage) ON (n.embedding)
OPTIONS {indexConfig: {`vector.dimensions`: $dimensions, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false,
  `vector.hnsw.m`: 16, `vector.hnsw.ef_construction`: 200}}
