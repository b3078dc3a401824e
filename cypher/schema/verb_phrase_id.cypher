// Every VerbPhrase has its own id; the constraint also brings the index that MERGE and MATCH look up. Runs once, in migration 1.
CREATE CONSTRAINT verb_phrase_id IF NOT EXISTS FOR (n:VerbPhrase) REQUIRE n.id IS UNIQUE
