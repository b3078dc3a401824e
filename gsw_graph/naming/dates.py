"""Dates: moved to `gsw_graph.dates`."""

from gsw_graph.dates import CALENDAR_WORDS, Date, find_dates

__all__ = ["CALENDAR_WORDS", "Date", "find_dates"]
