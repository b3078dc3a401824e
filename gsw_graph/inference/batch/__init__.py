"""Requests by the Batch API."""
