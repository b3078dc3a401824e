// Every Role has its own name; the constraint also brings the index that MERGE and MATCH look up. Runs once, in migration 1.
CREATE CONSTRAINT role_name IF NOT EXISTS FOR (n:Role) REQUIRE n.name IS UNIQUE
