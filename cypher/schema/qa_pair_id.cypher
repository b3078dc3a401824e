// Every QAPair has its own id; the constraint also brings the index that MERGE and MATCH look up. Runs once, in migration 1.
CREATE CONSTRAINT qa_pair_id IF NOT EXISTS FOR (n:QAPair) REQUIRE n.id IS UNIQUE
