"""A duplicate filter for Scrapy that remembers requests in a Bloom filter: 5 bytes for each, and not 100 or more.

    DUPEFILTER_CLASS = "bloomery.scrapy.DupeFilter"

It fetches no page twice. A false positive loses a page, so the default rate is 1 in a million (BLOOMERY_FPR).

Settings: BLOOMERY_FPR; BLOOMERY_CAPACITY, the number of expected requests (1,000,000; a file, memory and a server's
module grow past that, a filter in Redis strings does not); BLOOMERY_LOCATION, a path or an address. By default that is
requests.bloom in JOBDIR, or memory without a JOBDIR. At an address several spiders share one filter
(docs/configuration.md). If the filter is over capacity, the log has a warning when the spider opens and when it
closes. A requests.seen in JOBDIR that Scrapy's own filter left is imported. The requests seen survive the death of the
process.
"""

from __future__ import annotations

import logging
import os
import re
from typing import Any, Iterator

from scrapy.dupefilters import BaseDupeFilter  # type: ignore[import]
from scrapy.utils.job import job_dir  # type: ignore[import]
from scrapy.utils.request import referer_str  # type: ignore[import]

import bloomery

_FINGERPRINT = re.compile("[0-9a-f]{40}\n")


class DupeFilter(BaseDupeFilter):  # type: ignore[misc]
    """Scrapy's contract: from_crawler, open, request_seen, log, close."""

    def __init__(self, fingerprinter: Any, location: str | None = None, old: str | None = None,
                 capacity: int = 1_000_000, fpr: float = 1e-6, debug: bool = False) -> None:
        self.fingerprinter = fingerprinter
        self.location, self.old = location, old
        self.capacity, self.fpr = capacity, fpr
        self.debug = debug
        self.logdupes = True
        self.logger = logging.getLogger(__name__)
        self.seen: Any = None

    @classmethod
    def from_crawler(cls, crawler: Any) -> DupeFilter:
        settings = crawler.settings
        directory = job_dir(settings) or None
        location = settings.get("BLOOMERY_LOCATION") or (directory and os.path.join(directory, "requests.bloom"))
        return cls(crawler.request_fingerprinter, location, directory and os.path.join(directory, "requests.seen"),
                   settings.getint("BLOOMERY_CAPACITY", 1_000_000), settings.getfloat("BLOOMERY_FPR", 1e-6),
                   settings.getbool("DUPEFILTER_DEBUG"))

    def open(self) -> None:
        if self.location is None:
            self.seen = bloomery.ScalableFilter(self.capacity, self.fpr)
            return
        # An existing filter keeps the parameters with which it was made.
        if "://" not in self.location and os.path.exists(self.location):
            self.seen = bloomery.open(self.location, "w", durability="process")
        else:
            how: dict[str, Any] = {} if "://" in self.location else {"kind": "scalable", "durability": "process"}
            self.seen = bloomery.open(self.location, "a", self.capacity, self.fpr, **how)
        # This runs at each start, since an earlier start may have been killed during it.
        if self.old and os.path.exists(self.old):
            self.seen.insert_many(self._old_fingerprints())
        self._warn_if_full()

    def _warn_if_full(self) -> None:
        stats = self.seen.stats()
        if stats.over_capacity:
            share = "a growing share" if stats.current_fpr is None else f"about {stats.current_fpr:.2g}"
            self.logger.warning("%s has more requests than the %d that it was made for: it loses %s of the new pages. "
                                "Make a larger one (BLOOMERY_CAPACITY).", self.seen.name, stats.capacity, share)

    def _old_fingerprints(self) -> Iterator[bytes]:
        assert self.old
        with open(self.old, encoding="ascii", errors="replace") as lines:
            for line in lines:
                # The last line may be cut, or contain only zeros after a power loss.
                if _FINGERPRINT.fullmatch(line):
                    yield bytes.fromhex(line)

    def request_seen(self, request: Any) -> bool:
        return not self.seen.add(self.fingerprinter.fingerprint(request))

    def close(self, reason: str) -> None:
        if self.seen is not None:
            self._warn_if_full()
            self.seen.close()

    def log(self, request: Any, spider: Any) -> None:
        if self.debug:
            self.logger.debug("Filtered duplicate request: %(request)s (referer: %(referer)s)",
                              {"request": request, "referer": referer_str(request)}, extra={"spider": spider})
        elif self.logdupes:
            self.logger.debug("Filtered duplicate request: %(request)s - no more duplicates will be shown (see "
                              "DUPEFILTER_DEBUG to show all duplicates)", {"request": request}, extra={"spider": spider})
            self.logdupes = False
        spider.crawler.stats.inc_value("dupefilter/filtered", spider=spider)
