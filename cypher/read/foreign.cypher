// Whether a database without a memory already has nodes with our labels. Runs once, before a memory is made on a server.
MATCH (n)
WHERE n:Document OR n:Passage OR n:Entity OR n:Role OR n:Concept OR n:VerbPhrase OR n:QAPair OR n:Proposition OR n:Question OR n:Run OR n:Relation OR n:Correction
RETURN labels(n) AS labels
LIMIT 1
