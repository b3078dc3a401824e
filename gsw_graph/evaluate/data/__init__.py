"""Questions with known answers, in the shapes that data sets have."""
