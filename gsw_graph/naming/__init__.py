"""Names and dates in text, by rule."""
