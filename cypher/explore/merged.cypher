// Names that `gswgraph merge` made one: the name they are shown by, each other name, how sure and why.
// A canonical name is known by all passages of its aliases.
MATCH (alias:Concept)-[merged:ALIAS_OF]->(c:Concept)
RETURN c.name AS name, alias.name AS alias, c.passages AS passages, alias.passages AS passages_of_alias, merged.score AS score, merged.reason AS reason, merged.run AS run
ORDER BY passages DESC, name, alias
LIMIT 100
