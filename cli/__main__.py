"""`python -m gsw_graph.cli`, for where scripts are not on the path."""

from gsw_graph.cli import main

main(prog_name="gswgraph")
