"""Questions that compare: their sides, a matrix of sides by attributes, and what follows from it."""
