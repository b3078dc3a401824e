// The indexes that stand. Runs for `doctor`.
SHOW INDEXES YIELD name, state
RETURN name, state
