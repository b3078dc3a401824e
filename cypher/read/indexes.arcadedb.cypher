// The indexes that exist. Runs for `doctor` and at the end of a load.
SHOW INDEXES YIELD name, state, owningConstraint
RETURN coalesce(owningConstraint, name) AS name, state
