// Takes aliases from their canonical concept. $aliases: ids. Runs once a batch of an unmerge.
UNWIND $aliases AS id
MATCH (:Concept {id: id})-[merged:ALIAS_OF]->(:Concept)
DELETE merged
