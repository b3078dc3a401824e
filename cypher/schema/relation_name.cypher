// Every Relation has its own name; the constraint also brings the index that MERGE and MATCH look up. Runs once, in migration 4.
CREATE CONSTRAINT relation_name IF NOT EXISTS FOR (n:Relation) REQUIRE n.name IS UNIQUE
