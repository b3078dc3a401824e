"""Questions that were asked before, as a source of answers: docs/past.md."""
