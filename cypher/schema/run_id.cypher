// Every Run has its own id; the constraint also brings the index that MATCH looks up. Runs once, in migration 4.
CREATE CONSTRAINT run_id IF NOT EXISTS FOR (n:Run) REQUIRE n.id IS UNIQUE
