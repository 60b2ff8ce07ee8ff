#!/usr/bin/env python3
"""FastMCP signs a user in at our server for the example MCP server, with its own browser call and callback server.

It identifies itself by its document or registers itself, asks for more when a tool needs more, and registers
again when the server has forgotten it.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import logging
import secrets
import socket
import sys
import threading
import time
import urllib.parse
import urllib.request
import warnings
import webbrowser
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import own_network  # noqa: E402
from local_servers import Failed, drive, expect  # noqa: E402
from notes import READING, WRITING, Notes, documents, without_documents  # noqa: E402
from person import Person, noting  # noqa: E402

SECONDS = 30


class Browser(webbrowser.BaseBrowser):
    """The browser of the system for this program, in which the user signs in."""

    def __init__(self, person: Person) -> None:
        super().__init__("person")
        self.faults: list[Exception] = []
        self.asked: list[dict[str, str]] = []
        self._person = person

    def open(self, url: str, new: int = 0, autoraise: bool = True) -> bool:
        """Returns at once, as a browser does; FastMCP starts to listen only afterwards."""
        threading.Thread(target=self._sign_in, args=(url,), daemon=True).start()
        return True

    def _sign_in(self, url: str) -> None:
        try:
            self._person.agreed = False
            self.asked.append(dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query)))
            arrived = self._person.sign_in(url)
            expect(self._person.agreed, "the user was not asked")
            wait_for_listener(arrived)
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(arrived, timeout=SECONDS):
                pass
        except Exception as fault:  # noqa: BLE001 - the driver reports it
            self.faults.append(fault)


def wait_for_listener(url: str) -> None:
    """Waits until a program listens at a redirect URI."""
    parts = urllib.parse.urlsplit(url)
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            socket.create_connection((parts.hostname or "", parts.port or 80), timeout=1).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise Failed(f"FastMCP does not listen on port {parts.port}") from None
            time.sleep(0.05)


def client_of(notes: Notes, store: Any, document: str | None):  # type: ignore[no-untyped-def]
    """The client as the documentation of FastMCP shows it; with a document if it has one."""
    from fastmcp import Client
    from fastmcp.client.auth import OAuth

    return Client(
        notes.url, auth=OAuth(token_storage=store, client_metadata_url=document, callback_timeout=SECONDS)
    )


async def use(notes: Notes, browser: Browser, document: str | None) -> None:
    """Signs in, calls a tool, asks for more for another tool; starts again without tokens after the client's end."""
    from key_value.aio.stores.memory import MemoryStore

    store = MemoryStore()
    before = len(browser.asked)
    async with client_of(notes, store, document) as client:
        await call(client, "list_notes")
        expect(len(browser.asked) == before + 1, f"the first tool took {len(browser.asked) - before} sign-ins")
        asked = scope_of(browser.asked[-1])
        expect(READING in asked and WRITING not in asked, f"it asked for {asked}")

        # The challenge of the tool leads to a second consent, for the scopes of both tools (MCP 2026-07-28).
        note = secrets.token_hex(8)
        expect(await call(client, "add_note", text=note) == "added", "the note was not added")
        expect(note in (await call(client, "list_notes")).splitlines(), "the note is not listed")
        expect(len(browser.asked) == before + 2, f"both tools took {len(browser.asked) - before} sign-ins")
        expect({READING, WRITING} <= scope_of(browser.asked[-1]), f"it asked for {scope_of(browser.asked[-1])}")

    client_id = browser.asked[-1]["client_id"]
    expect(client_id == document or client_id in notes.server.self_registered(), f"it is known as {client_id}")
    async with client_of(notes, store, document) as client:
        await call(client, "list_notes")
    expect(len(browser.asked) == before + 2, "the stored tokens were not used")

    # It keeps the registration and loses the tokens. Status 400 at the authorization endpoint makes it register again.
    notes.server.end_unregistered(client_id)
    await store.delete(key=f"{notes.url}/tokens", collection="mcp-oauth-token")
    async with client_of(notes, store, document) as client:
        expect(note in (await call(client, "list_notes")).splitlines(), "after the end of the client the note is gone")
    again = browser.asked[-1]["client_id"]
    expect((again == client_id) == (document is not None), f"after its end it is known as {again}")
    expect(len(browser.asked) == before + 3, "after its end it did not sign in once")


def scope_of(request: dict[str, str]) -> set[str]:
    """The scope of an authorization request."""
    return set(request.get("scope", "").split())


async def call(client: Any, tool: str, **arguments: str) -> str:
    """The text of the result of a tool; FastMCP throws if it failed."""
    result = await client.call_tool(tool, arguments)
    return "\n".join(each.text for each in result.content)


def journey(folder: Path) -> str:
    password = secrets.token_urlsafe(18)
    notes = Notes(folder, "alice", password)
    # Every port of `localhost`: FastMCP listens on a free one.
    person = Person("alice", password, stop="http://localhost:", note=noting(folder / "person.log"))
    browser = Browser(person)
    webbrowser.register("person", None, browser, preferred=True)
    with documents(folder, IN_OWN_NETWORK) as published:
        ways: list[str | None] = [None]
        if published is not None:
            ways.append(published.publish("/fastmcp.json", "FastMCP", "http://localhost/callback"))
        for options in ([], ["--without-scopes"]):
            with notes.serving(*options):
                for way in ways:
                    try:
                        asyncio.run(use(notes, browser, way))
                    except Exception:
                        if browser.faults:
                            raise browser.faults[0] from None
                        raise
    version = importlib.metadata.version("fastmcp")
    done = f"FastMCP {version}: registered itself or named its document, called a tool, asked for a second scope"
    return done + without_documents(IN_OWN_NETWORK)


if __name__ == "__main__":
    # The tokens of the driver are to be lost with it, which FastMCP warns of.
    warnings.filterwarnings("ignore", message="Using in-memory token storage")
    logging.disable(logging.INFO)
    IN_OWN_NETWORK = own_network.enter()
    sys.exit(drive(journey, ("openssl",)))
