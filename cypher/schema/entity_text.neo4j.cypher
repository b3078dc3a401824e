// Words of entities, their roles and states (BM25). English analysis on both engines; up to date with every transaction. Runs once, after the first rows.
CREATE FULLTEXT INDEX entity_text IF NOT EXISTS FOR (n:Entity) ON EACH [n.name, n.description]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english', `fulltext.eventually_consistent`: false}}
