// Which concepts are another one. Runs once a version of the memory with each graph that the client keeps, and once a merge.
MATCH (alias:Concept)-[merged:ALIAS_OF]->(concept:Concept)
RETURN alias.id AS alias, concept.id AS canonical
