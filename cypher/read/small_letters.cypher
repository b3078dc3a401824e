// Those of some words that a passage has in small letters. $names. Runs once a `show` of a document with words that only begin sentences.
UNWIND $names AS name
WITH name, ' ' + toLower(name) AS word
WHERE EXISTS {
  MATCH (p:Passage)
  WHERE p.text CONTAINS word + ' ' OR p.text CONTAINS word + '.' OR p.text CONTAINS word + ','
}
RETURN name
