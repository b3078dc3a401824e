// The passages of a scope. Runs once for each scope and version of the memory.
// $inside, $outside: sources, files and folders without the slash at the end, the first empty for all; $since, $until: bounds of the day of a passage, else that its document is about, inclusive,
// '' for none, of which what has no day fits neither; $where: [{key, op, value, values, negated}] over properties of documents, a list fits where one of its values does,
// a document without the key only what is negated.
MATCH (d:Document {status: 'ready'})
WHERE (size($inside) = 0 OR any(name IN $inside WHERE any(place IN [d.source, coalesce(d.file, d.source)] WHERE place = name OR place STARTS WITH name + '/' OR place STARTS WITH name + '#')))
  AND none(name IN $outside WHERE any(place IN [d.source, coalesce(d.file, d.source)] WHERE place = name OR place STARTS WITH name + '/' OR place STARTS WITH name + '#'))
  AND all(condition IN $where WHERE condition.negated <> coalesce(any(value IN [] + d[condition.key] WHERE CASE condition.op
    WHEN '=' THEN any(other IN condition.values WHERE other = value)
    WHEN '<' THEN value < condition.value
    WHEN '<=' THEN value <= condition.value
    WHEN '>' THEN value > condition.value
    WHEN '>=' THEN value >= condition.value
    ELSE toLower(toString(value)) CONTAINS toLower(toString(condition.value)) END), false))
MATCH (d)<-[:PART_OF]-(p:Passage)
WHERE ($since = '' OR coalesce(p.at, d.about) >= $since)
  AND ($until = '' OR left(coalesce(p.at, d.about), size($until)) <= $until)
RETURN collect(p.id) AS ids
