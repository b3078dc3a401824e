// What is merged: each alias with its canonical concept, and why, by which run and when. Runs for `merge --show` and `unmerge`.
MATCH (alias:Concept)-[merged:ALIAS_OF]->(concept:Concept)
RETURN alias.id AS alias, alias.name AS alias_name, alias.passages AS alias_passages, concept.id AS canonical, concept.name AS name, concept.passages AS passages,
  merged.score AS score, merged.reason AS reason, merged.method AS method, merged.run AS run, merged.at AS at
ORDER BY canonical, alias
