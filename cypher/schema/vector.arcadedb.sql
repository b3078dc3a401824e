-- Nearest by cosine: the property first, as the index stores it in 32 bits. $NAME, $LABEL, $PROPERTY and $DIMENSIONS are put in, of store/nodes.py. Runs after the first rows.
CREATE PROPERTY $LABEL.$PROPERTY IF NOT EXISTS ARRAY_OF_FLOATS;
CREATE INDEX $NAME IF NOT EXISTS ON $LABEL ($PROPERTY) LSM_VECTOR METADATA {"dimensions": $DIMENSIONS, "similarity": "COSINE", "maxConnections": 16, "beamWidth": 48, "efSearch": 200}
