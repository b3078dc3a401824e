"""An evaluation as a page and tables."""
