// The evidence that answers used most: passages and question-answer pairs.
// `questions`: how many used it, `cited`: how many cite it.
MATCH (q:Question)-[used:USED]->(x)
WITH x, count(DISTINCT q) AS questions, sum(CASE WHEN used.cited THEN 1 ELSE 0 END) AS cited ORDER BY questions DESC, cited DESC, x.id
LIMIT 25
RETURN CASE WHEN x:QAPair THEN 'pair' ELSE 'passage' END AS kind, CASE WHEN x:QAPair THEN x.question + ' ' + x.answer ELSE x.title + ': ' + trim(reduce(begin = '', word IN split(x.text, ' ')[..12] | begin + word + ' ')) END AS evidence,
  questions, cited
ORDER BY questions DESC, cited DESC, evidence
LIMIT 25
