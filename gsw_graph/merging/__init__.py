"""Concepts that are the same thing: found, joined, taken apart again. `merging.py` is what others call."""
