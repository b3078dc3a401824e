// All passages have their runs, as of this version of the memory: whatever is written raises it. Runs after runs were built.
MATCH (m:Memory {id: 'memory'})
SET m.runs = m.version
