// An index goes before it is built anew. $name is put in, the name of one of our indexes. Runs when the vectors have doubled, and where an index is damaged.
DROP INDEX $name IF EXISTS
