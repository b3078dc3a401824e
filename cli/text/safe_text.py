"""Name again what `gsw_graph.safe_text` has for the command line."""

from gsw_graph.safe_text import clean, cut, one_line, short_source, without_password

__all__ = ["clean", "cut", "one_line", "short_source", "without_password"]
