// Deletes the runs of some documents, which are built again when they are needed. $documents.
UNWIND $documents AS document
MATCH (:Document {id: document})<-[:PART_OF|SUPERSEDED_IN]-(:Passage)<-[:IN]-(r:Run)
DETACH DELETE r
