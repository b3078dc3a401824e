// Passages that say something and have no run yet, document by document in the order of the text. Runs when runs are built, counted or first needed at a version.
MATCH (d:Document {status: 'ready'})<-[:PART_OF]-(p:Passage)
WHERE NOT EXISTS { (p)<-[:IN]-(:Run) } AND (EXISTS { (p)<-[:IN]-(:QAPair) } OR EXISTS { (p)<-[:IN]-(:Proposition) })
RETURN d.id AS document, p.id AS id, p.position AS position
ORDER BY document, position
