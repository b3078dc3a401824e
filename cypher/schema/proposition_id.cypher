// Every Proposition has its own id; the constraint also brings the index that MERGE and MATCH look up. Runs once, in migration 1.
CREATE CONSTRAINT proposition_id IF NOT EXISTS FOR (n:Proposition) REQUIRE n.id IS UNIQUE
