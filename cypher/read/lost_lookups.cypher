// How many nodes their own id does not find: all zero where the indexes behind the constraints are sound. Runs for `doctor --deep`.
CALL () { MATCH (n:Document) WITH collect(n.id) AS ids UNWIND ids AS id OPTIONAL MATCH (x:Document {id: id}) WITH id, x WHERE x IS NULL RETURN count(id) AS documents }
CALL () { MATCH (n:Passage) WITH collect(n.id) AS ids UNWIND ids AS id OPTIONAL MATCH (x:Passage {id: id}) WITH id, x WHERE x IS NULL RETURN count(id) AS passages }
CALL () { MATCH (n:Entity) WITH collect(n.id) AS ids UNWIND ids AS id OPTIONAL MATCH (x:Entity {id: id}) WITH id, x WHERE x IS NULL RETURN count(id) AS entities }
CALL () { MATCH (n:Role) WITH collect(n.name) AS ids UNWIND ids AS id OPTIONAL MATCH (x:Role {name: id}) WITH id, x WHERE x IS NULL RETURN count(id) AS roles }
CALL () { MATCH (n:Concept) WITH collect(n.id) AS ids UNWIND ids AS id OPTIONAL MATCH (x:Concept {id: id}) WITH id, x WHERE x IS NULL RETURN count(id) AS concepts }
CALL () { MATCH (n:VerbPhrase) WITH collect(n.id) AS ids UNWIND ids AS id OPTIONAL MATCH (x:VerbPhrase {id: id}) WITH id, x WHERE x IS NULL RETURN count(id) AS verb_phrases }
CALL () { MATCH (n:QAPair) WITH collect(n.id) AS ids UNWIND ids AS id OPTIONAL MATCH (x:QAPair {id: id}) WITH id, x WHERE x IS NULL RETURN count(id) AS pairs }
CALL () { MATCH (n:Proposition) WITH collect(n.id) AS ids UNWIND ids AS id OPTIONAL MATCH (x:Proposition {id: id}) WITH id, x WHERE x IS NULL RETURN count(id) AS propositions }
CALL () { MATCH (n:Run) WITH collect(n.id) AS ids UNWIND ids AS id OPTIONAL MATCH (x:Run {id: id}) WITH id, x WHERE x IS NULL RETURN count(id) AS runs }
CALL () { MATCH (n:Relation) WITH collect(n.name) AS ids UNWIND ids AS id OPTIONAL MATCH (x:Relation {name: id}) WITH id, x WHERE x IS NULL RETURN count(id) AS relations }
RETURN documents, passages, entities, roles, concepts, verb_phrases, pairs, propositions, runs, relations
