// Words (BM25). English analysis on both engines; up to date with every transaction. $NAME, $LABEL, $PROPERTY and $OTHER are put in, of store/nodes.py. Runs after the first rows.
CREATE FULLTEXT INDEX $NAME IF NOT EXISTS FOR (n:$LABEL) ON EACH [n.$PROPERTY, n.$OTHER]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english', `fulltext.eventually_consistent`: false}}
