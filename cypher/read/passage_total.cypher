// How many passages there are, and the version stamp; the servers answer from their counters. Runs once an ask of `linked`.
MATCH (m:Memory {id: 'memory'})
RETURN m.version AS version, COUNT { MATCH (p:Passage) } AS passages
