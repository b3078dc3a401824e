// Those of some passages that have runs by now: another process may have built them. $passages. Runs once a batch of runs, before it is written.
UNWIND $passages AS id
MATCH (p:Passage {id: id})<-[:IN]-(:Run)
RETURN DISTINCT p.id AS id
