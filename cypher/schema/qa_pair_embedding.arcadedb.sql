-- Nearest question-answer pairs by cosine: the property first, as the index stores it in 32 bits. $dimensions is put in as a whole number. Runs once, after the first rows.
CREATE PROPERTY QAPair.embedding IF NOT EXISTS ARRAY_OF_FLOATS;
CREATE INDEX qa_pair_embedding IF NOT EXISTS ON QAPair (embedding) LSM_VECTOR METADATA {"dimensions": $dimensions, "similarity": "COSINE", "maxConnections": 16, "beamWidth": 48, "efSearch": 200}
