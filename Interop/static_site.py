"""Serves the files of a single-page application on localhost, as its developer would."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Files(http.server.SimpleHTTPRequestHandler):
    """The files of a folder, some of them with another text."""

    def __init__(self, *arguments: object, texts: dict[str, str], **more: object) -> None:
        self._texts = texts
        super().__init__(*arguments, **more)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        name = "index.html" if path == "/" else path[1:]
        if name not in self._texts:
            super().do_GET()
            return
        body = self._texts[name].encode()
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(name))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keeps quiet."""


@contextmanager
def static_site(folder: Path, texts: dict[str, str], port: int) -> Iterator[str]:
    """The site, for as long as the block runs; its origin. `texts` are files that differ from those of the folder."""
    handler = functools.partial(Files, directory=str(folder), texts=texts)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://localhost:{port}"
    finally:
        server.shutdown()
        server.server_close()
