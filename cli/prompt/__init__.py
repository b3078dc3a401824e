"""Questions one after another."""
