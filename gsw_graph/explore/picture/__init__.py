"""The memory as pictures: a page of HTML that needs no network, of an answer or of what a query returns."""
