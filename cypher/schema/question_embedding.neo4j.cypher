// Nearest questions that were asked, by cosine. Every option is given because the defaults differ between versions; $dimensions is put in as a whole number. Runs once, after the first rows, or in migration 3.
CREATE VECTOR INDEX question_embedding IF NOT EXISTS FOR (n:Question) ON (n.embedding)
OPTIONS {indexConfig: {`vector.dimensions`: $dimensions, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false,
  `vector.hnsw.m`: 16, `vector.hnsw.ef_construction`: 200}}
