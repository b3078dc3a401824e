// The names that one passage holds: put in your own title. Browser draws them around the passage.
// A name refers to a concept, which is the same in every document: double-click one in Browser to see where else it stands.
MATCH path = (p:Passage)<-[:IN]-(:Entity)-[:REFERS_TO]->(c:Concept)
WHERE p.title = 'Tidewater Theatre'
RETURN c.name AS name, c.passages AS passages, path
ORDER BY passages DESC, name
LIMIT 200
