// How far a copy is, in the transaction that wrote it. $moving: as in begin. Runs once a batch of a copy.
MATCH (m:Memory {id: 'memory'})
SET m.moving = $moving
