-- Words of passages (BM25). English analysis on both engines. Runs once, after the first rows.
CREATE PROPERTY Passage.title IF NOT EXISTS STRING;
CREATE PROPERTY Passage.text IF NOT EXISTS STRING;
CREATE INDEX passage_text IF NOT EXISTS ON Passage (title, text) FULL_TEXT METADATA {"analyzer": "org.apache.lucene.analysis.en.EnglishAnalyzer"}
