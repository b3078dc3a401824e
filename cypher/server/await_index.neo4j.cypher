// Waits for an index. $name, $seconds. Runs once for each that is not ready.
CALL db.awaitIndex($name, $seconds)
