// Which passages and entities the full-text indexes find by some words. $words: [word], $k: how many of each at most. Runs for `doctor --deep`.
UNWIND $words AS word
CALL (word) {
  CALL db.index.fulltext.queryNodes('passage_text', word, {limit: $k}) YIELD node
  RETURN collect(node.id) AS passages
}
CALL (word) {
  CALL db.index.fulltext.queryNodes('entity_text', word, {limit: $k}) YIELD node
  RETURN collect(node.id) AS entities
}
RETURN word, passages, entities
