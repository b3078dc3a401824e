-- Nearest questions that were asked, by cosine: the property first, as the index stores it in 32 bits. $dimensions is put in as a whole number. Runs once, after the first rows, or in migration 3.
CREATE PROPERTY Question.embedding IF NOT EXISTS ARRAY_OF_FLOATS;
CREATE INDEX question_embedding IF NOT EXISTS ON Question (embedding) LSM_VECTOR METADATA {"dimensions": $dimensions, "similarity": "COSINE", "maxConnections": 16, "beamWidth": 48, "efSearch": 200}
