-- Nearest passages by cosine: the property first, as the index stores it in 32 bits. $dimensions is put in as a whole number. Runs once, after the first rows.
CREATE PROPERTY Passage.embedding IF NOT EXISTS ARRAY_OF_FLOATS;
CREATE INDEX passage_embedding IF NOT EXISTS ON Passage (embedding) LSM_VECTOR METADATA {"dimensions": $dimensions, "similarity": "COSINE", "maxConnections": 16, "beamWidth": 48, "efSearch": 200}
