"""Ready workspaces and their parts, in every shape that is published."""
