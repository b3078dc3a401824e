-- Words (BM25). English analysis on both engines. $NAME, $LABEL, $PROPERTY and $OTHER are put in, of store/nodes.py. Runs after the first rows.
CREATE PROPERTY $LABEL.$PROPERTY IF NOT EXISTS STRING;
CREATE PROPERTY $LABEL.$OTHER IF NOT EXISTS STRING;
CREATE INDEX $NAME IF NOT EXISTS ON $LABEL ($PROPERTY, $OTHER) FULL_TEXT METADATA {"analyzer": "org.apache.lucene.analysis.en.EnglishAnalyzer"}
