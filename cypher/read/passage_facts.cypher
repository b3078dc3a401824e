// What a memory says of some passages: their propositions and answered pairs, each with the names in it and how near it is to some questions.
// $passages: ids; $embeddings: of the questions, may be empty; $most: facts, propositions first, then those nearest to one of the questions.
// One row a fact; `answers` of pairs only; `cosines` in [-1, 1], in the order of the embeddings: Neo4j returns (1 + cosine) / 2 and the embedded engine the cosine, so two orthogonal vectors tell the scale. Runs once a reading of compact evidence.
WITH vector.similarity.cosine([1.0, 0.0], [0.0, 1.0]) AS zero
UNWIND $passages AS id
MATCH (p:Passage {id: id})<-[:IN]-(fact)
WHERE fact:Proposition OR (fact:QAPair AND size(fact.answers) > 0)
WITH p, fact, [embedding IN $embeddings | (vector.similarity.cosine(fact.embedding, embedding) - zero) / (1 - zero)] AS cosines
ORDER BY fact.answers IS NOT NULL, reduce(best = -1.0, cosine IN cosines | CASE WHEN cosine > best THEN cosine ELSE best END) DESC, fact.id
LIMIT $most
OPTIONAL MATCH (fact)-[:MENTIONS|ABOUT]->(e:Entity)
RETURN p.id AS passage, fact.id AS id, coalesce(fact.text, fact.question) AS text, fact.answers AS answers, cosines,
  collect(DISTINCT e.name) AS names
ORDER BY passage, id
