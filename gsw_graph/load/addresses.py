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
    """Hold pages by address, failures, and the number of unchanged pages."""

    pages: dict[str, Page] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    unchanged: int = 0

    def added_to(self, report: LoadReport) -> LoadReport:
        """Return the report of the load of the pages, with failures and unchanged pages added."""
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
    """Fetch pages. A page that has not changed since the memory loaded it is not sent again.

    Args:
        addresses: Addresses of the pages.
        show: Returns a document of the memory.
        options: Options of the load.
        allow_private: Whether to fetch from this machine and from private networks.
        check: Raises if the load has been cancelled.
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
