// What was asked most: the same question in any letters, how often, and how it was answered last.
MATCH (q:Question)
WITH q ORDER BY q.asked_at DESC
WITH toLower(trim(q.question)) AS asked, collect(q) AS found, sum(CASE WHEN q.abstained THEN 1 ELSE 0 END) AS abstained
RETURN trim(found[0].question) AS question, size(found) AS times, found[0].answer AS last_answer, abstained, replace(left(found[0].asked_at, 16), 'T', ' ') AS last_asked
ORDER BY times DESC, last_asked DESC, question
LIMIT 25
