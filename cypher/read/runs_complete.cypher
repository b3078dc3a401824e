// Whether all passages have their runs. Once a version of the memory, before `all_runs`.
MATCH (m:Memory {id: 'memory'})
RETURN m.runs = m.version AS complete
