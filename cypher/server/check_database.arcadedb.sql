-- The engine's own check of pages, records and lists of relationships; it changes nothing. Runs for `doctor`.
CHECK DATABASE
