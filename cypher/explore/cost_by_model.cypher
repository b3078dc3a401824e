// What questions took, by language model: how many, tokens, dollars, mean seconds.
// `dollars` is of those whose price is known.
MATCH (q:Question)
RETURN coalesce(q.model, 'none') AS model, count(q) AS questions, sum(q.prompt_tokens) AS tokens_in, sum(q.completion_tokens) AS tokens_out,
  CASE WHEN count(q.dollars) > 0 THEN round(sum(q.dollars), 4) END AS dollars, round(avg(q.seconds), 3) AS seconds
ORDER BY dollars DESC, questions DESC, model
LIMIT 50
