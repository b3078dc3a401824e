// Nearest by cosine. Every option is given because the defaults differ between versions; $NAME, $LABEL, $PROPERTY and $DIMENSIONS are put in, of store/nodes.py. Runs after the first rows.
CREATE VECTOR INDEX $NAME IF NOT EXISTS FOR (n:$LABEL) ON (n.$PROPERTY)
OPTIONS {indexConfig: {`vector.dimensions`: $DIMENSIONS, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false,
  `vector.hnsw.m`: 16, `vector.hnsw.ef_construction`: 200}}
