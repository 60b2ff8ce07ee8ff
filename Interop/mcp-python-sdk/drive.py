#!/usr/bin/env python3
"""The MCP SDK for Python signs a user in at our server for the example MCP server, from the URL of that server alone.

It identifies itself by its document or registers itself, and asks for more when a tool needs more.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import secrets
import sys
import urllib.parse
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import own_network  # noqa: E402
from local_servers import Failed, drive, expect, free_ports  # noqa: E402
from notes import READING, WRITING, Notes, documents, without_documents  # noqa: E402
from person import ErrorPage, Person, noting  # noqa: E402


class Memory:
    """The token storage that the SDK asks its programs for."""

    def __init__(self) -> None:
        self.tokens: Any = None
        self.client: Any = None

    async def get_tokens(self):  # type: ignore[no-untyped-def]
        return self.tokens

    async def set_tokens(self, tokens: Any) -> None:
        self.tokens = tokens

    async def get_client_info(self):  # type: ignore[no-untyped-def]
        return self.client

    async def set_client_info(self, client_info: Any) -> None:
        self.client = client_info

    @property
    def scope(self) -> set[str]:
        """The granted scope."""
        return set((self.tokens.scope or "").split())


class Browser:
    """The handlers of the SDK: the user opens the authorization URL, and the program takes the response."""

    def __init__(self, person: Person) -> None:
        self.openings = 0
        self._person = person
        self._response: dict[str, str] = {}

    async def open(self, url: str) -> None:
        self.openings += 1
        self._person.agreed = False
        arrived = await asyncio.to_thread(self._person.sign_in, url)
        expect(self._person.agreed, "the user was not asked")
        self._response = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(arrived).query))

    async def response(self):  # type: ignore[no-untyped-def]
        from mcp.shared.auth import AuthorizationCodeResult

        expect("code" in self._response, f"the server answered {self._response.get('error')}")
        return AuthorizationCodeResult(**{name: self._response.get(name) for name in ("code", "state", "iss")})


def client_of(  # type: ignore[no-untyped-def]
    notes: Notes, memory: Memory, browser: Browser, redirect_uri: str, document: str | None
):
    """The client as the documentation of the SDK shows it; with a document if it has one."""
    from mcp.client.auth import OAuthClientProvider
    from mcp.shared.auth import OAuthClientMetadata

    metadata = OAuthClientMetadata.model_validate({"client_name": "MCP SDK", "redirect_uris": [redirect_uri]})
    return OAuthClientProvider(
        notes.url, metadata, memory, browser.open, browser.response, client_metadata_url=document
    )


async def use(notes: Notes, person: Person, redirect_uri: str, document: str | None, expires: bool) -> None:
    """Signs in, calls a tool, asks for more for another tool, refreshes, and signs in again after its end.

    Its registration expires, or an administrator deletes the client.
    """
    import httpx2
    from mcp.client import Client
    from mcp.client.streamable_http import streamable_http_client

    memory, browser = Memory(), Browser(person)
    provider = client_of(notes, memory, browser, redirect_uri, document)
    async with (
        httpx2.AsyncClient(auth=provider, timeout=30) as http,
        Client(streamable_http_client(notes.url, http_client=http)) as client,
    ):
        await call(client, "list_notes")
        expect(READING in memory.scope and WRITING not in memory.scope, f"it was granted {memory.scope}")
        expect(browser.openings == 1, f"the first tool took {browser.openings} sign-ins")

        # The challenge of the tool leads to a second consent, for the scopes of both tools (MCP 2026-07-28).
        note = secrets.token_hex(8)
        expect(await call(client, "add_note", text=note) == "added", "the note was not added")
        expect({READING, WRITING} <= memory.scope, f"after the second consent it was granted {memory.scope}")
        expect(note in (await call(client, "list_notes")).splitlines(), "the note is not listed")
        expect(browser.openings == 2, f"both tools took {browser.openings} sign-ins")

        former = memory.tokens
        provider.context.token_expiry_time = 1
        await call(client, "list_notes")
        expect(memory.tokens.access_token != former.access_token, "the refresh gave the same access token")
        expect(browser.openings == 2, "the refresh took a sign-in")

    client_id = memory.client.client_id
    expect(client_id == document or client_id in notes.server.self_registered(), f"it is known as {client_id}")
    if expires:
        notes.server.expire_registration(client_id)
    else:
        notes.server.end_unregistered(client_id)
    provider.context.token_expiry_time = 1
    if document is None:
        await find_registration_ended(notes, provider)
        # The SDK registers again only after its program has dropped the registration.
        memory = Memory()
        provider = client_of(notes, memory, browser, redirect_uri, document)
    async with (
        httpx2.AsyncClient(auth=provider, timeout=30) as http,
        Client(streamable_http_client(notes.url, http_client=http)) as client,
    ):
        expect(note in (await call(client, "list_notes")).splitlines(), "after the end of the client the note is gone")
    expect((memory.client.client_id == client_id) == (document is not None), "it is known as another client")


async def call(client: Any, tool: str, **arguments: str) -> str:
    """The text of the result of a tool."""
    result = await client.call_tool(tool, arguments)
    text = "\n".join(each.text for each in result.content)
    expect(not result.is_error, f"{tool} failed: {text}")
    return text


async def find_registration_ended(notes: Notes, provider: Any) -> None:
    """Neither a refresh nor the authorization endpoint takes a client whose registration has ended."""
    import httpx2

    try:
        async with httpx2.AsyncClient(auth=provider, timeout=30) as http:
            await http.post(notes.url, json={})
    except ErrorPage as refusal:
        expect(refusal.status == 400, str(refusal))
        return
    raise Failed("a client whose registration has ended was served")


def journey(folder: Path) -> str:
    password = secrets.token_urlsafe(18)
    redirect_uri = f"http://localhost:{free_ports(1)[0]}/callback"
    notes = Notes(folder, "alice", password)
    with documents(folder, IN_OWN_NETWORK) as published:
        ways: list[str | None] = [None]
        if published is not None:
            ways.append(published.publish("/sdk.json", "MCP SDK", "http://localhost/callback"))
        for options in ([], ["--without-scopes"]):
            person = Person("alice", password, stop=redirect_uri, note=noting(folder / "person.log"))
            with notes.serving(*options):
                for way in ways:
                    asyncio.run(use(notes, person, redirect_uri, way, expires=way is None and not options))
    version = importlib.metadata.version("mcp")
    done = (
        f"mcp {version}: registered itself or named its document, called a tool, asked for a second scope, refreshed, "
        "and signed in again after its registration had expired"
    )
    return done + without_documents(IN_OWN_NETWORK)


if __name__ == "__main__":
    IN_OWN_NETWORK = own_network.enter()
    sys.exit(drive(journey, ("openssl",)))
