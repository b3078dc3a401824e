"""Words, sentences, names and dates of texts."""
