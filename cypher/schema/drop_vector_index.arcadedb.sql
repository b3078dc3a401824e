-- A vector index that the memory has outgrown goes, before it is built anew. $name is put in, the name of one of our indexes. Runs when the vectors have doubled.
DROP INDEX $name
