"""Questions with a time in them: what they ask of dates, and what fits that."""
