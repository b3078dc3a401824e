-- Words of entities, their roles and states (BM25). English analysis on both engines. Runs once, after the first rows.
CREATE PROPERTY Entity.name IF NOT EXISTS STRING;
CREATE PROPERTY Entity.description IF NOT EXISTS STRING;
CREATE INDEX entity_text IF NOT EXISTS ON Entity (name, description) FULL_TEXT METADATA {"analyzer": "org.apache.lucene.analysis.en.EnglishAnalyzer"}
