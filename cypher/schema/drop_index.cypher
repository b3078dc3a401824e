// An index goes before it is built anew. $NAME is put in, the name of one of ours. Runs when the vectors have doubled, and when a named memory is removed.
DROP INDEX $NAME IF EXISTS
