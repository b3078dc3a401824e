// The first thousand values of a property of documents, lists one by one. $key. Runs where no document in the memory fits a condition on it.
MATCH (d:Document)
WHERE d[$key] IS NOT NULL
UNWIND [] + d[$key] AS value
RETURN DISTINCT value
ORDER BY toString(value)
LIMIT 1000
