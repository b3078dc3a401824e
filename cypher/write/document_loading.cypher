// A document too large for one transaction goes out of sight while its parts are deleted. $id.
MATCH (d:Document {id: $id})
SET d.status = 'loading'
