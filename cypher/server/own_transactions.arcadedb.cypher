// All transactions: an embedded memory has one user. Runs where a query is ended before it is done.
SHOW TRANSACTIONS
