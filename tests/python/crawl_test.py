"""Scrapy crawls a site with bloomery.scrapy.DupeFilter: it is stopped or killed, begins again, and fetches no page
twice. One that has used Scrapy's own filter goes on with ours.

usage: crawl_test.py
"""

import collections
import concurrent.futures
import http.server
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

import bloomery

PAGES = 60
SPIDER = """
import scrapy

class Spider(scrapy.Spider):
    name = "spider"
    custom_settings = {"DOWNLOAD_DELAY": 0.01, "RANDOMIZE_DOWNLOAD_DELAY": False, "CONCURRENT_REQUESTS": 2,
                       "TELNETCONSOLE_ENABLED": False, "LOG_LEVEL": "INFO"}

    def parse(self, response):
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, self.parse)
"""


class Site(http.server.ThreadingHTTPServer):
    """Page i links to pages 2i + 1 and 2i + 2, to its parent, and to itself."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Page)
        self.fetched = collections.Counter()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        page = int(self.path.removeprefix("/") or 0)
        self.server.fetched[page] += 1
        links = [other for other in (2 * page + 1, 2 * page + 2, page // 2, page) if 0 < other < PAGES]
        body = "".join(f'<a href="/{other}">x</a>' for other in links).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


def crawl(site, scratch, job, *settings, stop=None):
    """Crawls, or sends the signal `stop` once a third of the pages has come. What Scrapy said."""
    spider = scratch / f"spider_{job}.py"
    spider.write_text(SPIDER + f"    start_urls = ['{site.url}/']\n")
    words = [word for setting in (f"JOBDIR={scratch / job}", *settings) for word in ("-s", setting)]
    process = subprocess.Popen([sys.executable, "-m", "scrapy", "runspider", *words, str(spider)], cwd=scratch,
                               stderr=subprocess.PIPE, text=True)
    if stop is not None:
        deadline = time.monotonic() + 60
        while len(site.fetched) < PAGES // 3 and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(stop)
    try:
        said = process.communicate(timeout=120)[1]
    finally:
        process.kill()  # a crawl without an end
    if stop is None and process.returncode != 0 or "Traceback" in said:
        sys.exit(said)
    return said


def check(condition, complaint):
    if not condition:
        sys.exit(complaint)


OURS = "DUPEFILTER_CLASS=bloomery.scrapy.DupeFilter"


def stopped(scratch):
    site = Site()
    crawl(site, scratch, "stopped", OURS, stop=signal.SIGINT)
    check(PAGES // 3 <= len(site.fetched) < PAGES, f"{len(site.fetched)} pages were fetched before the stop")
    said = crawl(site, scratch, "stopped", OURS)
    check(set(site.fetched) == set(range(PAGES)), f"{PAGES - len(site.fetched)} pages were not fetched")
    twice = [page for page, times in site.fetched.items() if times > 1 and page != 0]
    check(not twice, f"fetched twice: {twice}")
    check(int(re.search(r"'dupefilter/filtered': (\d+)", said)[1]) > 0, "no duplicate was counted")


def killed(scratch):
    site = Site()
    crawl(site, scratch, "killed", OURS, stop=signal.SIGKILL)
    before = set(site.fetched)
    check(len(before) >= PAGES // 3, "it was killed too early")
    crawl(site, scratch, "killed", OURS)
    # Scrapy asks for the start again, and a request that was under way when it died may have been counted only then.
    twice = [page for page, times in site.fetched.items() if times > 1 and page != 0]
    check(not twice, f"fetched twice: {twice}")


def taken_over(scratch):
    site = Site()
    crawl(site, scratch, "taken", stop=signal.SIGINT)
    check((scratch / "taken/requests.seen").stat().st_size > 0, "Scrapy's own filter has left nothing")
    crawl(site, scratch, "taken", OURS)
    twice = [page for page, times in site.fetched.items() if times > 1 and page != 0]
    check(set(site.fetched) == set(range(PAGES)) and not twice, f"fetched twice: {twice}")


def without_a_directory(scratch):
    site = Site()
    crawl(site, scratch, "", OURS, "JOBDIR=", "BLOOMERY_FPR=1e-7", "BLOOMERY_CAPACITY=10")
    check(set(site.fetched) == set(range(PAGES)), f"{PAGES - len(site.fetched)} pages were not fetched")


def shared(scratch):
    """Two spiders at once, with one filter on a server, which makes each key new to one of them alone."""
    if os.environ.get("BLOOMERY_HAS_REDIS") == "0":
        return
    socket = scratch / "redis.sock"
    server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", str(socket), "--save", "", "--dir",
                               str(scratch)], stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while not socket.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        site = Site()
        where = f"BLOOMERY_LOCATION=redis+unix://{socket}?key=seen"
        with concurrent.futures.ThreadPoolExecutor() as both:
            runs = [both.submit(crawl, site, scratch, job, OURS, where) for job in ("one", "two")]
            said = [run.result() for run in runs]
        twice = [page for page, times in site.fetched.items() if times > 1 and page != 0]
        check(set(site.fetched) == set(range(PAGES)), f"{PAGES - len(site.fetched)} pages were not fetched")
        check(not twice, f"fetched twice: {twice}")
        shares = [int(re.search(r"'response_received_count': (\d+)", one)[1]) for one in said]
        check(sum(shares) == sum(site.fetched.values()), f"the spiders say that they fetched {shares}")
    finally:
        server.terminate()
        server.wait()


def full(scratch):
    """A filter that does not grow, and was made for less than the site has, says so; one that is large enough does not."""
    for capacity, warned in ((1_000, False), (20, True)):
        path = scratch / f"{capacity}.bloom"
        bloomery.open(path, "x", capacity, 1e-6).close()
        said = crawl(Site(), scratch, f"full{capacity}", OURS, f"BLOOMERY_LOCATION={path}")
        check(("more requests than" in said) == warned, f"{capacity}: {said}")


def main():
    for case in stopped, killed, taken_over, without_a_directory, full, shared:
        with tempfile.TemporaryDirectory() as scratch:
            case(pathlib.Path(scratch))
            print(case.__name__, "as it should be")


if __name__ == "__main__":
    main()
