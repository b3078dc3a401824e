// Deletes a correction that was undone. $id.
MATCH (c:Correction {id: $id})
DETACH DELETE c
