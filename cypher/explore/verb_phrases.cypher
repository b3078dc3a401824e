// The most frequent verb phrases, and how many question-answer pairs ask about them.
MATCH (v:VerbPhrase)
WITH toLower(v.phrase) AS phrase, count(v) AS times, sum(COUNT { (v)-[:ASKS]->() }) AS pairs
RETURN phrase, times, pairs
ORDER BY times DESC, pairs DESC, phrase
LIMIT 50
