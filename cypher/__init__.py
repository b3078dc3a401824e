"""Every statement that gswgraph runs, one a file."""
