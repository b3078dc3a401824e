// Recent loads: documents by the minute in which they came, with what read them.
MATCH (d:Document)
WITH replace(left(d.loaded_at, 16), 'T', ' ') AS loaded, d.loader AS loader, d.extractor AS extractor, d.model AS model, count(d) AS documents, min(d.title) AS first
RETURN loaded, loader, extractor, model, documents, first
ORDER BY loaded DESC, documents DESC, loader, extractor
LIMIT 25
