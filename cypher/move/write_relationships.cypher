// Relationships of a copy. $BEGIN, $KEY_OF_BEGIN, $TYPE, $END and $KEY_OF_END are put in, names of ours; $rows: [{key, end, properties}].
// Result: how many it wrote, which must be all. Runs once a batch of a copy.
UNWIND $rows AS row
MATCH (a:$BEGIN {$KEY_OF_BEGIN: row.key})
MATCH (b:$END {$KEY_OF_END: row.end})
CREATE (a)-[r:$TYPE]->(b)
SET r += row.properties
RETURN count(*) AS written
