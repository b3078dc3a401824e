// How each strategy has answered: questions, how many of them answered, mean seconds and confidence.
MATCH (q:Question)
RETURN q.strategy AS strategy, count(q) AS questions, sum(CASE WHEN q.answer IS NULL OR q.abstained THEN 0 ELSE 1 END) AS answered,
  round(avg(q.seconds), 3) AS seconds, round(avg(q.confidence), 2) AS confidence
ORDER BY questions DESC, strategy
LIMIT 50
