// A copy is whole and was compared with the memory it comes from. $version: of that memory. Runs once a copy.
MATCH (m:Memory {id: 'memory'})
SET m.version = $version
REMOVE m.moving
