// A correction that a person made. $row: {id, action, target, value, places: [id of a document], by, at}.
CREATE (c:Correction {id: $row.id})
SET c += $row
