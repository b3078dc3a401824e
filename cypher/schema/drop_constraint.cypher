// A constraint goes with its memory. $NAME is put in, the name of one of ours. Runs when a named memory is removed.
DROP CONSTRAINT $NAME IF EXISTS
