// A question-answer pair, if there is any. Runs before a question is planned by a language model or asked without a plan, and where no chain was found.
MATCH (q:QAPair)
RETURN q.id AS id
LIMIT 1
