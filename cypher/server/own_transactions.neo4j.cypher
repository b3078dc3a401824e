// The transactions that a query of people runs in, by the mark they were begun with. $mark. Runs where a query is ended before it is done.
SHOW TRANSACTIONS YIELD transactionId, metaData
WHERE metaData.gswgraph = $mark
RETURN transactionId AS id
