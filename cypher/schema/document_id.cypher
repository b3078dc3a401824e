// Every Document has its own id; the constraint also brings the index that MERGE and MATCH look up. Runs once, in migration 1.
CREATE CONSTRAINT document_id IF NOT EXISTS FOR (n:Document) REQUIRE n.id IS UNIQUE
