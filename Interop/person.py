#!/usr/bin/env python3
"""A person with a browser, played by a program: signs in on the pages of any server and allows what is asked.

As $BROWSER (or `xdg-open`) it takes the address, goes into the background and returns at once, as browsers do:

    PERSON_NAME           what the person types as user name
    PERSON_PASSWORD_FILE  a file with the password, readable by its owner alone
    PERSON_LOG            where the steps are written, without secrets

It reads HTML forms, follows redirects and `<meta http-equiv="refresh">`, keeps cookies, runs no script, and goes
nowhere but to this machine.
"""

from __future__ import annotations

import os
import sys
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Callable

LOOPBACK = {"127.0.0.1", "::1", "localhost"}
STEPS = 12


class Lost(Exception):
    """The person does not know how to go on."""


@dataclass
class Control:
    """An input or a button of a form."""

    kind: str
    name: str
    value: str

    @property
    def submits(self) -> bool:
        return self.kind in ("submit", "button")


@dataclass
class Form:
    """A form as it stands in the page."""

    action: str
    method: str
    controls: list[Control] = field(default_factory=list)

    @property
    def asks_for_password(self) -> bool:
        return any(control.kind == "password" for control in self.controls)

    @property
    def allow_button(self) -> Control | None:
        for control in self.controls:
            if control.submits and (control.name, control.value) == ("decision", "allow"):
                return control
        for control in self.controls:
            if control.submits and control.name in ("allow", "accept"):
                return control
        return None


class Page(HTMLParser):
    """What a person can act on in one answer."""

    def __init__(self, url: str, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.url = url
        self.title = ""
        self.forms: list[Form] = []
        self.refresh: str | None = None
        self._form: Form | None = None
        self._in_title = False
        self.feed(html)

    @property
    def origin(self) -> str:
        return origin(self.url)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "title":
            self._in_title = True
        elif tag == "meta" and values.get("http-equiv", "").lower() == "refresh":
            _, _, target = values.get("content", "").partition(";")
            name, _, address = target.strip().partition("=")
            if name.strip().lower() == "url":
                self.refresh = urllib.parse.urljoin(self.url, address.strip().strip("'\""))
        elif tag == "form":
            action = urllib.parse.urljoin(self.url, values.get("action") or self.url)
            self._form = Form(action, values.get("method", "get").lower())
            self.forms.append(self._form)
        elif tag in ("input", "button") and self._form is not None and "disabled" not in values:
            kind = values.get("type", "text" if tag == "input" else "submit").lower()
            if kind in ("checkbox", "radio") and "checked" not in values:
                return
            value = values.get("value", "on" if kind in ("checkbox", "radio") else "")
            self._form.controls.append(Control(kind, values.get("name", ""), value))

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif tag == "form":
            self._form = None

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data.strip()


def origin(url: str) -> str:
    """Scheme, host and port of an address."""
    parts = urllib.parse.urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def without_query(url: str) -> str:
    """An address as it may stand in a log."""
    return url.split("?")[0].split("#")[0]


class StopAt(urllib.request.HTTPRedirectHandler):
    """Follows redirects on this machine, and stops in front of an address that nobody listens on."""

    def __init__(self, stop: str | None) -> None:
        self.stop = stop
        self.stopped_at: str | None = None

    def redirect_request(self, req, fp, code, msg, headers, newurl):  # type: ignore[no-untyped-def]
        check(newurl)
        if self.stop is not None and newurl.startswith(self.stop):
            self.stopped_at = newurl
            return None
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def check(url: str) -> None:
    """Refuses an address that is not on this machine."""
    parts = urllib.parse.urlsplit(url)
    if parts.scheme != "http" or parts.hostname not in LOOPBACK:
        raise Lost(f"{without_query(url)} is not on this machine")


class Person:
    """One person in front of one browser."""

    def __init__(
        self, name: str, password: str, stop: str | None = None, note: Callable[[str], None] = lambda line: None
    ) -> None:
        """Somebody who knows a password; `stop` is the start of the address to stop in front of."""
        self.cookies = CookieJar()
        self.agreed = False
        self._name = name
        self._password = password
        self._note = note
        self._redirects = StopAt(stop)
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(self.cookies), self._redirects
        )

    def sign_in(self, url: str) -> str:
        """Opens an authorization request, does what the pages ask, and returns the address where it ended."""
        check(url)
        server = origin(url)
        page = self._open(url)
        typed = False
        for _ in range(STEPS):
            if self._redirects.stopped_at is not None:
                return self._redirects.stopped_at
            if page.refresh is not None:
                target = page.refresh
                check(target)
                if self._redirects.stop is not None and target.startswith(self._redirects.stop):
                    return target
                page = self._open(target, page)
                continue
            form = next((form for form in page.forms if form.asks_for_password), None)
            if form is not None:
                if typed:
                    raise Lost(f"{server} refused the user name and the password (“{page.title}”)")
                typed = True
                page = self._submit(page, form, self._credentials(form))
                continue
            form = next((form for form in page.forms if form.allow_button), None)
            if form is not None and form.allow_button is not None:
                self.agreed = True
                button = form.allow_button
                page = self._submit(page, form, self._fields(form) + [(button.name, button.value)])
                continue
            if page.origin == server:
                raise Lost(f"a page of {server} that asks nothing known: “{page.title}” at {without_query(page.url)}")
            return page.url
        raise Lost(f"{server} asks on and on")

    def cookie_header(self, url: str) -> str:
        """The cookies that a browser would send to this address."""
        request = urllib.request.Request(url)
        self.cookies.add_cookie_header(request)
        return request.get_header("Cookie") or ""

    def _credentials(self, form: Form) -> list[tuple[str, str]]:
        fields = []
        for control in form.controls:
            if control.kind == "password":
                fields.append((control.name, self._password))
            elif control.kind in ("text", "email") and control.name:
                fields.append((control.name, self._name))
            elif control.kind not in ("submit", "button") and control.name:
                fields.append((control.name, control.value))
        return fields

    def _fields(self, form: Form) -> list[tuple[str, str]]:
        return [(control.name, control.value) for control in form.controls if control.name and not control.submits]

    def _submit(self, page: Page, form: Form, fields: list[tuple[str, str]]) -> Page:
        check(form.action)
        data = urllib.parse.urlencode(fields)
        if form.method == "post":
            return self._open(form.action, page, data.encode())
        return self._open(form.action.split("?")[0] + "?" + data, page)

    def _open(self, url: str, referrer: Page | None = None, body: bytes | None = None) -> Page:
        headers = {
            "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0",
            "Accept": "text/html,application/xhtml+xml,*/*;q=0.8",
            "Accept-Language": "en",
        }
        if referrer is not None and body is not None:
            headers["Origin"] = referrer.origin
        self._note(f"{'POST' if body is not None else 'GET'} {without_query(url)}")
        try:
            with self._opener.open(urllib.request.Request(url, body, headers), timeout=30) as answer:
                status, address, text = answer.status, answer.url, answer.read().decode("utf-8", "replace")
        except urllib.error.HTTPError as answer:
            status, address, text = answer.code, answer.url, answer.read().decode("utf-8", "replace")
            if self._redirects.stopped_at is not None:
                self._note("  → the application")
                return Page(address, "")
            if status != 401 or "<form" not in text:
                title = Page(address, text).title
                raise Lost(f"{without_query(address)} answered {status} “{title}”") from None
        except urllib.error.URLError as fault:
            raise Lost(f"{without_query(url)} does not answer: {fault.reason}") from None
        page = Page(address, text)
        self._note(f"  → {status} “{page.title}” {without_query(address)}")
        return page


def in_background() -> bool:
    """Returns True in a process of its own, False in the one that was called."""
    if os.fork() > 0:
        return False
    os.setsid()
    if os.fork() > 0:
        os._exit(0)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    return True


def main() -> int:
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return 0 if len(sys.argv) == 2 else 64
    try:
        name = os.environ["PERSON_NAME"]
        password = Path(os.environ["PERSON_PASSWORD_FILE"]).read_text("utf-8").rstrip("\n")
        log = os.open(os.environ["PERSON_LOG"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except KeyError as missing:
        print(f"person: {missing.args[0]} is not set", file=sys.stderr)
        return 64
    if not in_background():
        return 0

    def note(line: str) -> None:
        os.write(log, f"{line}\n".encode())

    person = Person(name, password, note=note)
    try:
        note(f"arrived at {without_query(person.sign_in(sys.argv[1]))}; allowed: {person.agreed}")
        return 0
    except Lost as reason:
        note(f"lost: {reason}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
