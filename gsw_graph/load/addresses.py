"""Pages that a load names by their addresses, fetched before it begins."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gsw_graph.errors import InputError
from gsw_graph.load.options import LoadOptions
from gsw_graph.loaders.address import Page, fetch
from gsw_graph.loaders.files import UnusableError
from gsw_graph.model.documents import Failure, Value
from gsw_graph.model.results import LoadReport, Shown


@dataclass
class Fetched:
    """Pages by address, those that cannot be fetched, and how many are as the memory has them."""

    pages: dict[str, Page] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    unchanged: int = 0

    def added_to(self, report: LoadReport) -> LoadReport:
        """Return the report of the load of the pages, with what is not in it as nothing was there to load."""
        counts = report.documents
        failed, unchanged = counts.failed + len(self.failures), counts.unchanged + self.unchanged
        documents = replace(counts, failed=failed, unchanged=unchanged)
        return replace(report, documents=documents, failures=[*self.failures, *report.failures])


def fetched(
    addresses: Sequence[str],
    show: Callable[[str, int], Shown],
    options: LoadOptions,
    *,
    allow_private: bool,
    check: Callable[[], object],
) -> Fetched:
    """Fetch pages; those that have not changed since the memory loaded them are not sent again.

    Args:
        addresses: Of the pages.
        show: Shows a document of the memory.
        options: How they will be loaded.
        allow_private: Whether addresses of this machine and of private networks are asked.
        check: Raises where the load has been ended.
    """
    result = Fetched()
    for address in dict.fromkeys(address.partition("#")[0] for address in addresses):
        check()
        known = {} if options.replace or options.upgrade else _known(address, show)
        try:
            page = fetch(address, known, allow_private=allow_private)
        except UnusableError as error:
            result.failures.append(Failure(address, str(error)))
            continue
        if page is None:
            result.unchanged += 1
        else:
            result.pages[address] = page
    return result


def _known(address: str, show: Callable[[str, int], Shown]) -> Mapping[str, Value]:
    """Return the metadata of the document of an address, none unless it was loaded whole."""
    try:
        document = show(address, 1).document
    except InputError:
        return {}
    is_whole = document.source == address and document.status == "ready" and not document.unread
    return document.meta if is_whole else {}
