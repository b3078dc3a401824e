// An index goes before it is built anew. $NAME is put in, the name of one of ours. Runs when the vectors have doubled.
DROP INDEX $NAME IF EXISTS
