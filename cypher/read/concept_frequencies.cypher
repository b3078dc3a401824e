// In how many passages of a scope some concepts occur, with those that are merged into them. $ids: of canonical ones; $scope, $open: as of `dense`. Once an ask of `pruned` that compares all runs, within a scope.
UNWIND $ids AS id
MATCH (c:Concept {id: id})
RETURN c.id AS id, COUNT { MATCH (c)<-[:ALIAS_OF*0..1]-(:Concept)<-[link:REFERS_TO|NAMES]-()-[:IN*0..1]->(p:Passage) WHERE (link.counted OR link.weight IS NULL) AND coalesce($scope[p.id], $open) RETURN DISTINCT p } AS passages
