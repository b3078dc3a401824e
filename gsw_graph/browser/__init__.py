"""Neo4j Browser at a memory: its address, the style and the saved queries that it can take, what it draws of
an answer, and a guided tour."""
