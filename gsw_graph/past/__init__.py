"""Questions that were asked before, as a source of answers: docs/question-cache.md."""
