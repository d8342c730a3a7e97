"""What a scripted coder writes for the pipeline's request: a first draft that misses a case, and the finished code."""

DRAFT = """\
import re
import urllib.request


def titles(urls):
    found = []
    for url in urls:
        html = urllib.request.urlopen(url, timeout=10).read().decode()
        found.append(re.search("<title>(.*?)</title>", html).group(1))
    return found
"""

FINISHED = '''\
import urllib.error
import urllib.request
from html.parser import HTMLParser


class _Title(HTMLParser):
    def __init__(self):
        super().__init__()
        self.inside = False
        self.text = None

    def handle_starttag(self, tag, attrs):
        self.inside = tag == "title" and self.text is None

    def handle_endtag(self, tag):
        self.inside = self.inside and tag != "title"

    def handle_data(self, data):
        if self.inside:
            self.text = (self.text or "") + data


def titles(urls, timeout_s=10):
    """Return the title of each page, None where there is none or it cannot be had."""
    found = []
    for url in urls:
        page = _Title()
        try:
            with urllib.request.urlopen(url, timeout=timeout_s) as answer:
                charset = answer.headers.get_content_charset() or "utf-8"
                page.feed(answer.read().decode(charset, "replace"))
        except (OSError, ValueError):
            pass
        found.append(page.text.strip() if page.text else None)
    return found
'''

SERVED = """\
import http.server
import threading

PAGES = {"/a": "<html><head><title>One &amp; only</title></head></html>", "/b": "<p>nothing</p>"}


class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = PAGES.get(self.path)
        self.send_response(200 if body else 404)
        self.end_headers()
        self.wfile.write((body or "").encode())

    def log_message(self, *args):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Pages)
threading.Thread(target=server.serve_forever, daemon=True).start()
base = f"http://127.0.0.1:{server.server_port}"
"""

EASY_CHECK = SERVED + 'assert titles([f"{base}/a"]) == ["One &amp; only"]\n'
CHECK = (
    SERVED + 'assert titles([f"{base}/a", f"{base}/b", f"{base}/c", "nonsense"]) == ["One & only", None, None, None]\n'
)
