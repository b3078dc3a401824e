// The Memory node of a copy that begins. $moving: from where, and how far it is, as JSON; $properties: what is known of the memory. Runs once a copy.
MERGE (m:Memory {id: 'memory'})
SET m += $properties, m.moving = $moving, m.indexed = false
