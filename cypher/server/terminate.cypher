// Ends a transaction of ours. $id. Runs where a query is ended before it is done.
TERMINATE TRANSACTIONS $id
