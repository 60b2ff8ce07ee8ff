#!/usr/bin/env python3
"""A person with a browser, played by a program: signs in on the pages of any server and allows what is asked.

As $BROWSER (or `xdg-open`) it takes the address, goes into the background and returns at once, as browsers do:

    PERSON_NAME           what the person types as user name
    PERSON_PASSWORD_FILE  a file with the password, readable by its owner alone
    PERSON_LOG            where the steps are written, without secrets
    PERSON_AUTHORITY      a file with the certificate that vouches for https, where the server has one
    PERSON_HOSTS          further names of this machine, with commas between them

It reads HTML forms, follows redirects and `<meta http-equiv="refresh">`, posts an answer that comes in a form, keeps
cookies, runs no script, and goes nowhere but to this machine.
"""

from __future__ import annotations

import http.client
import os
import ssl
import sys
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.cookiejar import Cookie, CookieJar, DefaultCookiePolicy
from pathlib import Path
from typing import Callable

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
STEPS = 12


class Lost(Exception):
    """The user does not know how to continue."""


class ErrorPage(Lost):
    """An error response, with its page."""

    def __init__(self, status: int, page: Page) -> None:
        super().__init__(f"{without_query(page.url)} answered {status} “{page.title}”")
        self.status = status
        self.page = page


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
    """A form of a page."""

    action: str
    method: str
    controls: list[Control] = field(default_factory=list)

    @property
    def asks_for_password(self) -> bool:
        return any(control.kind == "password" for control in self.controls)

    @property
    def asks_for_name(self) -> bool:
        """Whether it asks who the person is, and nothing else."""
        typed = [control.name for control in self.controls if control.kind in ("text", "email", "password")]
        return self.method == "post" and len(typed) == 1 and typed[0] in ("login", "sub", "user", "username")

    @property
    def asks_for_user_code(self) -> bool:
        """Whether it asks for the code that a device shows (RFC 8628 §3.3)."""
        return any((control.kind, control.name) == ("text", "user_code") for control in self.controls)

    def has(self, name: str, value: str) -> bool:
        """Whether it has this button."""
        return any(control.submits and (control.name, control.value) == (name, value) for control in self.controls)

    @property
    def is_answer(self) -> bool:
        """Whether it is an authorization response, which a script would post at once."""
        names = {control.name for control in self.controls}
        return self.method == "post" and "state" in names and not names.isdisjoint({"code", "error"})

    @property
    def allow_button(self) -> Control | None:
        for control in self.controls:
            if control.submits and (control.name, control.value) in (("decision", "allow"), ("answer", "accept")):
                return control
        for control in self.controls:
            if control.submits and control.name in ("allow", "accept"):
                return control
        if any((control.kind, control.name) == ("hidden", "confirm") for control in self.controls):
            return next((control for control in self.controls if control.submits and not control.name), None)
        return None

    @property
    def deny_button(self) -> Control | None:
        """The button of our consent page that denies."""
        return next((each for each in self.controls if (each.name, each.value) == ("decision", "deny")), None)


class Page(HTMLParser):
    """What a person can act on in one answer."""

    def __init__(self, url: str, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.url = url
        self.text = html
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
    """A URL without its query and fragment, which a log may contain."""
    return url.split("?")[0].split("#")[0]


class StopAt(urllib.request.HTTPRedirectHandler):
    """Follows redirects on this machine, and stops at a URL that no server listens on."""

    def __init__(self, stop: str | None, hosts: frozenset[str]) -> None:
        self.stopped_at: str | None = None
        self._stop = stop
        self._hosts = hosts

    def stops(self, url: str) -> bool:
        """Whether this is where to stop; if it is not, it has to be an address on this machine."""
        if self._stop is not None and url.startswith(self._stop):
            self.stopped_at = url
            return True
        self.check(url)
        return False

    def check(self, url: str) -> None:
        """Refuses an address that is not on this machine."""
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or parts.hostname not in self._hosts:
            raise Lost(f"{without_query(url)} is not on this machine")

    def redirect_request(self, req, fp, code, msg, headers, newurl):  # type: ignore[no-untyped-def]
        if self.stops(newurl):
            return None
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class LocalCookies(DefaultCookiePolicy):
    """Takes cookies that name `localhost` as their domain, as browsers do on that very host."""

    def set_ok_domain(self, cookie: Cookie, request: urllib.request.Request) -> bool:
        return self._is_local(cookie.domain, request) or super().set_ok_domain(cookie, request)

    def return_ok_domain(self, cookie: Cookie, request: urllib.request.Request) -> bool:
        return self._is_local(cookie.domain, request) or super().return_ok_domain(cookie, request)

    def domain_return_ok(self, domain: str, request: urllib.request.Request) -> bool:
        return self._is_local(domain, request) or super().domain_return_ok(domain, request)

    @staticmethod
    def _is_local(domain: str, request: urllib.request.Request) -> bool:
        return domain == ".localhost" and urllib.parse.urlsplit(request.full_url).hostname == "localhost"


def opener_from(
    source: str, authority: Path | None, *handlers: urllib.request.BaseHandler
) -> urllib.request.OpenerDirector:
    """Opens http and https addresses from this address of the machine."""

    class FromSource(urllib.request.HTTPHandler):
        def http_open(self, req):  # type: ignore[no-untyped-def]
            return self.do_open(http.client.HTTPConnection, req, source_address=(source, 0))

    class SecuredFromSource(urllib.request.HTTPSHandler):
        def https_open(self, req):  # type: ignore[no-untyped-def]
            context = ssl.create_default_context(cafile=authority)
            return self.do_open(http.client.HTTPSConnection, req, source_address=(source, 0), context=context)

    return urllib.request.build_opener(
        urllib.request.ProxyHandler({}), FromSource(), SecuredFromSource(), *handlers
    )


def is_start(url: str) -> bool:
    """Whether an address is one of an application on this machine that leads to its server."""
    parts = urllib.parse.urlsplit(url)
    return parts.hostname in LOOPBACK and parts.path.startswith("/start/")


class Person:
    """One person in front of one browser."""

    def __init__(
        self,
        name: str,
        password: str,
        stop: str | None = None,
        note: Callable[[str], None] = lambda line: None,
        authority: Path | None = None,
        hosts: frozenset[str] = LOOPBACK,
        source: str | None = None,
    ) -> None:
        """A user who knows a password; `stop` is the start of the address to stop in front of.

        `authority` is a certificate that vouches for https; `hosts` are the names of this machine; `source` is the
        address of this machine from which requests come.
        """
        self.cookies = CookieJar(LocalCookies())
        self.agreed = False
        self.denies = False
        #: Further header fields of every request.
        self.headers: dict[str, str] = {}
        self._name = name
        self._password = password
        self._note = note
        self._redirects = StopAt(stop, hosts)
        handlers = [urllib.request.HTTPCookieProcessor(self.cookies), self._redirects]
        self._opener = opener_from(source, authority, *handlers) if source else urllib.request.build_opener(
            urllib.request.ProxyHandler({}),
            urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=authority)),
            *handlers,
        )

    def sign_in(self, url: str, server: str | None = None) -> str:
        """Opens an authorization request, does what the pages ask, and returns the address where it ended.

        Where the address is one of an application that leads to its server, `server` is the origin of that one.
        """
        page = self._open(url)
        server = server or origin(page.url if is_start(url) else url)
        typed: set[str] = set()
        for _ in range(STEPS):
            if self._redirects.stopped_at is not None:
                return self._redirects.stopped_at
            if page.refresh is not None:
                if self._redirects.stops(page.refresh):
                    return page.refresh
                page = self._open(page.refresh, page)
                continue
            following = self._answer(page, server, typed)
            if following is not None:
                page = following
                continue
            if page.origin == server:
                raise Lost(f"a page of {server} that asks nothing known: “{page.title}” at {without_query(page.url)}")
            return page.url
        raise Lost(f"{server} asks on and on")

    def approve_device(self, url: str, code: str | None = None) -> Page:
        """Opens the URL that a device shows, types the code if it asks for it, and allows the device or denies it.

        Returns the last page.
        """
        page = self._open(url)
        server = origin(url)
        typed: set[str] = set()
        for _ in range(STEPS):
            form = next((form for form in page.forms if form.asks_for_user_code), None)
            if form is not None:
                if "code" in typed:
                    raise Lost(f"{server} refused the code of the device (“{page.title}”)")
                typed.add("code")
                fields = [(name, code or value if name == "user_code" else value) for name, value in self._fields(form)]
                page = self._submit(page, form, fields)
                continue
            following = self._answer(page, server, typed)
            if following is not None:
                page = following
                continue
            if "decision" not in typed:
                raise Lost(f"{server} does not ask about the device: “{page.title}” at {without_query(page.url)}")
            return page
        raise Lost(f"{server} asks on and on")

    def _answer(self, page: Page, server: str, typed: set[str]) -> Page | None:
        """Does what a page asks; None if it asks nothing known. `typed` is what the person has done already."""
        form = next((form for form in page.forms if form.is_answer), None)
        if form is not None:
            return self._submit(page, form, self._fields(form))
        form = next((form for form in page.forms if form.asks_for_password), None)
        if form is not None:
            if "password" in typed:
                raise Lost(f"{server} refused the user name and the password (“{page.title}”)")
            typed.add("password")
            return self._submit(page, form, self._credentials(form))
        form = next((form for form in page.forms if form.asks_for_name), None)
        if form is not None:
            if "name" in typed:
                raise Lost(f"{server} refused the user name (“{page.title}”)")
            typed.add("name")
            return self._submit(page, form, self._credentials(form))
        form = next((form for form in page.forms if form.allow_button), None)
        button = form and (form.deny_button if self.denies else form.allow_button)
        if form is not None and button is not None:
            typed.add("decision")
            self.agreed = not self.denies
            pressed = [(button.name, button.value)] if button.name else []
            return self._submit(page, form, self._fields(form) + pressed)
        return None

    def read(self, url: str) -> Page:
        """Opens a page, or where it leads to."""
        return self._open(url)

    def press(self, page: Page, name: str, value: str) -> Page:
        """Presses a button of a page."""
        for form in page.forms:
            if form.has(name, value):
                return self._submit(page, form, self._fields(form) + [(name, value)])
        raise Lost(f"“{page.title}” has no button {name}={value}")

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
        data = urllib.parse.urlencode(fields)
        if form.method == "post":
            return self._open(form.action, page, data.encode())
        return self._open(form.action.split("?")[0] + "?" + data, page)

    def _open(self, url: str, referrer: Page | None = None, body: bytes | None = None) -> Page:
        self._redirects.check(url)
        self._redirects.stopped_at = None
        headers = {
            "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0",
            "Accept": "text/html,application/xhtml+xml,*/*;q=0.8",
            "Accept-Language": "en",
            **self.headers,
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
                return Page(self._redirects.stopped_at, "")
            if status != 401 or "<form" not in text:
                raise ErrorPage(status, Page(address, text)) from None
        except urllib.error.URLError as fault:
            raise Lost(f"{without_query(url)} does not answer: {fault.reason}") from None
        page = Page(address, text)
        self._note(f"  → {status} “{page.title}” {without_query(address)}")
        return page


def noting(log: Path) -> Callable[[str], None]:
    """Writes each step into a file, which only its owner reads."""
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def note(line: str) -> None:
        os.write(descriptor, f"{line}\n".encode())

    return note


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
        note = noting(Path(os.environ["PERSON_LOG"]))
    except KeyError as missing:
        print(f"person: {missing.args[0]} is not set", file=sys.stderr)
        return 64
    if not in_background():
        return 0

    authority = os.environ.get("PERSON_AUTHORITY")
    hosts = LOOPBACK | {host for host in os.environ.get("PERSON_HOSTS", "").split(",") if host}
    person = Person(name, password, note=note, authority=Path(authority) if authority else None, hosts=hosts)
    try:
        note(f"arrived at {without_query(person.sign_in(sys.argv[1]))}; allowed: {person.agreed}")
        return 0
    except Lost as reason:
        note(f"lost: {reason}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
