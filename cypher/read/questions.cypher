// Questions that were asked, the latest first, after $skip. $text: in lower case, in the question or its answer ('' for any); $id: the beginning of an id, '' for any; $limit.
// `total` and the sums are of all that fit. Runs for `history`.
MATCH (q:Question)
WHERE (toLower(q.question) CONTAINS $text OR toLower(coalesce(q.answer, '')) CONTAINS $text) AND q.id STARTS WITH $id
WITH q ORDER BY q.asked_at DESC
WITH collect(q) AS found, sum(coalesce(q.prompt_tokens, 0)) AS prompt_tokens, sum(coalesce(q.completion_tokens, 0)) AS completion_tokens, sum(q.dollars) AS dollars
WITH size(found) AS total, prompt_tokens, completion_tokens, dollars, found[$skip..$skip + $limit] AS shown
UNWIND shown AS q
RETURN total, prompt_tokens AS all_prompt_tokens, completion_tokens AS all_completion_tokens, dollars AS all_dollars,
  q.id AS id, q.question AS question, q.answer AS answer, q.answer_source AS answer_source, q.abstained AS abstained, q.confidence AS confidence,
  q.strategy AS strategy, q.plan AS plan, q.model AS model, q.asked_at AS asked_at, q.seconds AS seconds,
  q.prompt_tokens AS prompt_tokens, q.completion_tokens AS completion_tokens, q.dollars AS dollars, q.verdict AS verdict, q.judged_at AS judged_at,
  [(q)-[:REUSED]->(s:Question) | s.id][0] AS cached_from
ORDER BY asked_at DESC
