// What extraction did badly: how often, and one case of each.
// gswgraph lint finds more, in files of workspaces.
CALL () {
  MATCH (q:QAPair) OPTIONAL MATCH (q)-[r:ABOUT]->() WITH q, r WHERE r IS NULL
  RETURN 'the question names nothing' AS defect, count(q) AS times, min(q.question) AS one
  UNION ALL
  MATCH (q:QAPair) WHERE q.answer <> '' OPTIONAL MATCH (q)-[r:ANSWERED_BY]->() WITH q, r WHERE r IS NULL
  RETURN 'the answer is no name of the document' AS defect, count(q) AS times, min(q.question + ' ' + q.answer) AS one
  UNION ALL
  MATCH (q:QAPair) WHERE size(q.answers) = 0
  RETURN 'the question has no answer' AS defect, count(q) AS times, min(q.question) AS one
  UNION ALL
  MATCH (q:QAPair) WHERE size(q.answer) > 0 AND toLower(q.question) CONTAINS toLower(q.answer)
  RETURN 'the question holds its answer' AS defect, count(q) AS times, min(q.question + ' ' + q.answer) AS one
  UNION ALL
  MATCH (q:QAPair) WHERE NOT q.question ENDS WITH '?'
  RETURN 'the question has no question mark' AS defect, count(q) AS times, min(q.question) AS one
  UNION ALL
  MATCH (q:QAPair) WHERE size(q.answer) > 200
  RETURN 'the answer is longer than 200 characters' AS defect, count(q) AS times, min(q.question) AS one
  UNION ALL
  MATCH (v:VerbPhrase) OPTIONAL MATCH (v)-[r:ASKS]->() WITH v, r WHERE r IS NULL
  RETURN 'the verb phrase has no pair' AS defect, count(v) AS times, min(v.phrase) AS one
  UNION ALL
  MATCH (f:Proposition) OPTIONAL MATCH (f)-[r:MENTIONS]->() WITH f, r WHERE r IS NULL
  RETURN 'the fact mentions no name' AS defect, count(f) AS times, min(f.text) AS one
}
WITH defect, times, one
WHERE times > 0
RETURN defect, times, one
ORDER BY times DESC, defect
LIMIT 25
