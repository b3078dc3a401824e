// The indexes and constraints that exist, by the name of the constraint where an index belongs to one. Runs for `doctor`, before indexes are made and at the end of a load.
SHOW INDEXES YIELD name, type, labelsOrTypes, properties, state, owningConstraint
RETURN coalesce(owningConstraint, name) AS name, state, type, labelsOrTypes AS labels, properties, owningConstraint IS NOT NULL AS constraint
