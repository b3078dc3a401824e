// A document too large for one transaction goes out of sight while its parts are deleted or written. $id; $status: 'loading', or 'renewing' where its passages stay.
MATCH (d:Document {id: $id})
SET d.status = $status
