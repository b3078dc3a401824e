// Marks a database in which a restore or a copy is under way, so that what a cut leaves is known as a part of it. Runs once a restore or copy.
MERGE (m:Memory {id: 'restoring'})
