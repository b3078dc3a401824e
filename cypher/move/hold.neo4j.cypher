// Takes the lock of the Memory node, and changes nothing: whoever writes waits until the transaction ends. Runs once a dump or copy.
MATCH (m:Memory {id: 'memory'})
SET m.version = m.version
