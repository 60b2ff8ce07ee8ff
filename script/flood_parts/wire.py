"""Sends requests from chosen addresses of this machine, over connections that stay open."""

from __future__ import annotations

import http.client
import json
import secrets
import urllib.parse
from dataclasses import dataclass

FORM = "application/x-www-form-urlencoded"


@dataclass
class Answer:
    status: int
    fields: http.client.HTTPMessage
    body: bytes

    @property
    def members(self) -> dict[str, object]:
        return dict(json.loads(self.body))


class Place:
    """Where requests come from: an address of this machine, or an IPv6 network behind a trusted proxy."""

    def __init__(self, address: str, network: str | None = None) -> None:
        self.address = address
        self._network = network

    def fields(self) -> dict[str, str]:
        """The field with which the proxy names the client: another network of 64 bits for each request."""
        if self._network is None:
            return {}
        return {"X-Forwarded-For": f"{self._network}:{secrets.randbelow(0x10000):x}::{secrets.randbelow(0x10000):x}"}


class Wire:
    """A connection to a server on this machine, which is opened again when it has ended."""

    def __init__(self, port: int, place: Place) -> None:
        self._port = port
        self._place = place
        self._connection: http.client.HTTPConnection | None = None

    def send(
        self, method: str, path: str, body: str | None = None, fields: dict[str, str] | None = None, kind: str = FORM
    ) -> Answer:
        sent = {**self._place.fields(), **(fields or {})}
        if body is not None:
            sent.setdefault("Content-Type", kind)
        for attempt in (1, 2):
            fresh = self._connection is None
            if self._connection is None:
                self._connection = http.client.HTTPConnection(
                    "127.0.0.1", self._port, timeout=60, source_address=(self._place.address, 0))
            try:
                self._connection.request(method, path, body, sent)
                answer = self._connection.getresponse()
                return Answer(answer.status, answer.headers, answer.read())
            except (http.client.HTTPException, ConnectionError):
                # The server closes a connection that was idle; a fresh one must be answered.
                self.close()
                if fresh or attempt == 2:
                    raise
        raise AssertionError("unreachable")

    def post(self, path: str, form: dict[str, str], fields: dict[str, str] | None = None) -> Answer:
        return self.send("POST", path, urllib.parse.urlencode(form), fields)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
