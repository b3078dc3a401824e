// A constraint goes with its index before it is made anew. $name is put in, the name of one of ours. Runs where an index is damaged.
DROP CONSTRAINT $name IF EXISTS
