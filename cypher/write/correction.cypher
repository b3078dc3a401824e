// A correction that a person made. $row: {id, action, target, value, places: [id of a document], texts: [of a passage that is superseded, of the other], by, at}.
CREATE (c:Correction {id: $row.id})
SET c += $row
