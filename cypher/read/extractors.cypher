// Documents by what read them. Runs for `status`.
MATCH (d:Document)
WHERE d.id IS NOT NULL
RETURN d.extractor AS extractor, d.model AS model, count(*) AS documents
ORDER BY documents DESC, extractor, model
