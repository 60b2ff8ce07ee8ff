"""The parts of a flood: for each, one step of the user, and one step of an attacker."""

from __future__ import annotations

import itertools
import json
import secrets
import time
import urllib.parse
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from local_servers import Counterfoil, Failed
from person import Form, Page, Person

from .proofs import Key
from .wire import Place, Wire

REDIRECT_URI = "http://127.0.0.1:49152/callback"
# RFC 7636 appendix B.
VERIFIER, CHALLENGE = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
USER_ADDRESS, ATTACKER_ADDRESS, ACCOUNT_ADDRESS, PROXY_ADDRESS = "127.0.0.9", "127.0.0.2", "127.0.0.3", "127.0.0.77"
USER, ATTACKER = "user", "mallory"
SCOPE = "openid offline_access"
#: The attackers: one IPv4 address, one IPv6 network of 48 bits, and one user at an address.
ATTACKERS = ("address", "network", "account")
#: What a session is called here; the user is signed out by deleting it.
SESSION = "counterfoil-session"

Step = Callable[[], None]
#: A step of an attacker returns the status of the response.
Attack = Callable[[], int]


@dataclass
class Site:
    """A server with two users and a client, as user and attacker know it."""

    server: Counterfoil
    client_id: str
    #: The password of the user, and that of the attacker, who does not know the other one.
    passwords: dict[str, str]

    @property
    def port(self) -> int:
        return self.server.port

    def url(self, path: str) -> str:
        return self.server.issuer + path

    def authorization(self, scope: str = "openid", **more: str) -> dict[str, str]:
        return {
            "response_type": "code", "client_id": self.client_id, "redirect_uri": REDIRECT_URI, "scope": scope,
            "state": secrets.token_urlsafe(12), "code_challenge": CHALLENGE, "code_challenge_method": "S256", **more,
        }

    def authorization_url(self, scope: str = "openid", **more: str) -> str:
        return self.url("/oauth2/authorize?" + urllib.parse.urlencode(self.authorization(scope, **more)))

    def tokens(self, wire: Wire, person: Person, scope: str, key: Key | None = None) -> dict[str, str]:
        """Signs a person in and redeems the code."""
        address = person.sign_in(self.authorization_url(scope))
        answer = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(address).query))
        if "code" not in answer:
            raise Failed(f"no code: {sorted(answer)}")
        form = {
            "grant_type": "authorization_code", "client_id": self.client_id, "code": answer["code"],
            "redirect_uri": REDIRECT_URI, "code_verifier": VERIFIER,
        }
        return self.redeem(wire, form, key)

    def redeem(self, wire: Wire, form: dict[str, str], key: Key | None = None) -> dict[str, str]:
        fields = {"DPoP": key.proof("POST", self.url("/oauth2/token"))} if key else {}
        answer = wire.post("/oauth2/token", form, fields)
        if answer.status != 200:
            raise Failed(f"the token endpoint answered {answer.status}: {answer.body.decode()}")
        return {name: str(value) for name, value in answer.members.items()}

    def refresh_form(self, tokens: dict[str, str]) -> dict[str, str]:
        return {
            "grant_type": "refresh_token", "client_id": self.client_id, "refresh_token": tokens["refresh_token"]}

    def person(self, name: str, address: str) -> Person:
        return Person(name, self.passwords[name], stop=REDIRECT_URI, source=address)


def addresses() -> Iterator[str]:
    """Addresses of a user who does the same again and again: an address has limits that one user does not reach."""
    return (f"127.{second}.{third}.9" for second, third in itertools.cycle(itertools.product((1, 2), range(250))))


def expect(status: int, wanted: int, body: bytes) -> None:
    if status != wanted:
        raise Failed(f"{status} instead of {wanted}: {body.decode(errors='replace')[:200]}")


# MARK: - What the user does


def sign_in(site: Site) -> Step:
    """Signs in again in the browser in which the user has signed in before."""
    person, wire = site.person(USER, USER_ADDRESS), Wire(site.port, Place(USER_ADDRESS))
    site.tokens(wire, person, "openid")

    def step() -> None:
        for cookie in [cookie for cookie in person.cookies if cookie.name == SESSION]:
            person.cookies.clear(cookie.domain, cookie.path, cookie.name)
        site.tokens(wire, person, "openid")
    return step


def refresh(site: Site, key: Key | None = None) -> Step:
    wire = Wire(site.port, Place(USER_ADDRESS))
    tokens = site.tokens(wire, site.person(USER, USER_ADDRESS), SCOPE, key)

    def step() -> None:
        tokens.update(site.redeem(wire, site.refresh_form(tokens), key))
    return step


def bound_refresh(site: Site) -> Step:
    return refresh(site, Key())


def device(site: Site) -> Step:
    """Gets codes for a device, allows them in a browser with a session, and redeems them."""
    person, wire = site.person(USER, USER_ADDRESS), Wire(site.port, Place(USER_ADDRESS))
    person.sign_in(site.authorization_url())
    place = addresses()

    def step() -> None:
        asking = Wire(site.port, Place(next(place)))
        answer = asking.post("/oauth2/device_authorization", {"client_id": site.client_id, "scope": "openid"})
        asking.close()
        expect(answer.status, 200, answer.body)
        person.approve_device(str(answer.members["verification_uri_complete"]))
        site.redeem(wire, {
            "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "client_id": site.client_id,
            "device_code": str(answer.members["device_code"]),
        })
    return step


def posting(site: Site, path: str, body: Callable[[], str], kind: str) -> Step:
    place = addresses()

    def step() -> None:
        wire = Wire(site.port, Place(next(place)))
        answer = wire.send("POST", path, body(), kind=kind)
        wire.close()
        expect(answer.status, 201, answer.body)
    return step


def registration_body() -> str:
    return json.dumps({"redirect_uris": [REDIRECT_URI], "application_type": "native", "token_endpoint_auth_method": "none"})


def registration(site: Site) -> Step:
    return posting(site, "/oauth2/register", registration_body, "application/json")


def pushed(site: Site) -> Step:
    return posting(
        site, "/oauth2/par", lambda: urllib.parse.urlencode(site.authorization()), "application/x-www-form-urlencoded")


# MARK: - What the attacker does


def place_of(attacker: str) -> Place:
    if attacker == "network":
        return Place(PROXY_ADDRESS, "2001:db8:2")
    return Place(ACCOUNT_ADDRESS if attacker == "account" else ATTACKER_ADDRESS)


class SignInForm:
    """The form of the sign-in page, which can be posted again and again."""

    def __init__(self, site: Site, wire: Wire) -> None:
        page = wire.send("GET", "/oauth2/authorize?" + urllib.parse.urlencode(site.authorization()))
        form: Form = next(form for form in Page(site.url("/"), page.body.decode()).forms if form.asks_for_password)
        self._path = urllib.parse.urlsplit(form.action).path
        self._hidden = {each.name: each.value for each in form.controls if each.kind == "hidden"}
        cookies = [value.split(";")[0] for value in page.fields.get_all("Set-Cookie") or []]
        self._fields = {"Cookie": "; ".join(cookies), "Origin": site.server.issuer}
        self._wire = wire

    def post(self, name: str, password: str) -> int:
        form = {**self._hidden, "username": name, "password": password}
        return self._wire.post(self._path, form, self._fields).status


def guessing(site: Site, attacker: str) -> Attack:
    """Guesses passwords of the user and of invented names; the account signs in with its own password."""
    form = SignInForm(site, Wire(site.port, place_of(attacker)))
    if attacker == "account":
        return lambda: form.post(ATTACKER, site.passwords[ATTACKER])
    tries = itertools.cycle([(USER, "wrong"), (f"{USER}@example.com", "wrong"), ("", "wrong")])

    def step() -> int:
        name, password = next(tries)
        return form.post(name or secrets.token_hex(6), password)
    return step


def signing_in(site: Site, attacker: str) -> Attack:
    """Signs in as one user with the right password, each connection from a network of its own."""
    place = Place(PROXY_ADDRESS, f"2001:db8:{secrets.randbelow(0x10000):x}")
    form = SignInForm(site, Wire(site.port, place))
    return lambda: form.post(ATTACKER, site.passwords[ATTACKER])


def forged_refresh(site: Site, attacker: str) -> Attack:
    """Sends forged refresh tokens; the account refreshes its own."""
    wire = Wire(site.port, place_of(attacker))
    if attacker == "account":
        tokens = site.tokens(wire, site.person(ATTACKER, ACCOUNT_ADDRESS), SCOPE)

        def own() -> int:
            tokens.update(site.redeem(wire, site.refresh_form(tokens)))
            return 200
        return own
    return lambda: wire.post(
        "/oauth2/token", site.refresh_form({"refresh_token": secrets.token_urlsafe(65)})).status


def proofs(site: Site, attacker: str) -> Attack:
    """Uses up proofs: in pushed requests that are answered at once, or at UserInfo with the tokens of several keys."""
    wire = Wire(site.port, place_of(attacker))
    if attacker == "account":
        person = site.person(ATTACKER, ACCOUNT_ADDRESS)
        keys = [Key() for _ in range(3)]
        tokens = itertools.cycle([(key, site.tokens(wire, person, "openid", key)["access_token"]) for key in keys])

        def ask() -> int:
            key, token = next(tokens)
            proof = key.proof("GET", site.url("/oauth2/userinfo"), token, ahead=290)
            return wire.send(
                "GET", "/oauth2/userinfo", fields={"Authorization": f"DPoP {token}", "DPoP": proof}).status
        return ask
    key = Key()

    def push() -> int:
        form = site.authorization(prompt="none")
        answer = wire.post("/oauth2/par", form, {"DPoP": key.proof("POST", site.url("/oauth2/par"), ahead=290)})
        if answer.status == 201:
            # The error response ends the request, so its place is free again.
            query = {"client_id": site.client_id, "request_uri": str(answer.members["request_uri"])}
            wire.send("GET", "/oauth2/authorize?" + urllib.parse.urlencode(query))
        return answer.status
    return push


def devices(site: Site, attacker: str) -> Attack:
    """Gets device codes; the account also guesses user codes."""
    wire = Wire(site.port, place_of(attacker))
    form = {"client_id": site.client_id, "scope": "openid"}
    if attacker != "account":
        return lambda: wire.post("/oauth2/device_authorization", form).status
    person = site.person(ATTACKER, ACCOUNT_ADDRESS)
    person.sign_in(site.authorization_url())
    cookies = {"Cookie": person.cookie_header(site.url("/"))}
    turns = itertools.cycle((True, False))

    def step() -> int:
        if next(turns):
            return wire.post("/oauth2/device_authorization", form).status
        return wire.send("GET", "/device?user_code=BCDF-GHJK", fields=cookies).status
    return step


def registrations(site: Site, attacker: str) -> Attack:
    wire = Wire(site.port, place_of(attacker))
    return lambda: wire.send("POST", "/oauth2/register", registration_body(), kind="application/json").status


def pushes(site: Site, attacker: str) -> Attack:
    """Pushes requests and opens them, so that each is kept for half an hour."""
    wire = Wire(site.port, place_of(attacker))

    def step() -> int:
        answer = wire.post("/oauth2/par", site.authorization())
        if answer.status == 201:
            query = {"client_id": site.client_id, "request_uri": str(answer.members["request_uri"])}
            wire.send("GET", "/oauth2/authorize?" + urllib.parse.urlencode(query))
        return answer.status
    return step


@dataclass
class Part:
    """What the user does, how often, and what an attacker does."""

    user: Callable[[Site], Step]
    #: The seconds between the beginnings of two steps of the user.
    pause: float
    attack: Callable[[Site, str], Attack]
    #: The connections on which an attacker sends requests at once.
    connections: int = 8
    attackers: tuple[str, ...] = ATTACKERS


PARTS = {
    "sign-in": Part(sign_in, 1.1, guessing, connections=32),
    "one-account": Part(sign_in, 1.1, signing_in, connections=100, attackers=("account",)),
    "refresh": Part(refresh, 0.25, forged_refresh),
    "bound-refresh": Part(bound_refresh, 0.25, proofs),
    "device": Part(device, 1.1, devices),
    # All sources together have a limit of 1,000 registrations in an hour, which the user must not reach alone.
    "registration": Part(registration, 4.0, registrations),
    "pushed": Part(pushed, 0.25, pushes),
}


def repeat(step: Step, pause: float, stop: float, taken: list[float], errors: list[str]) -> None:
    """Takes a step again and again until a time."""
    while time.monotonic() < stop:
        began = time.monotonic()
        try:
            step()
            taken.append((time.monotonic() - began) * 1000)
        except Exception as fault:  # noqa: BLE001 - any fault is one that the user meets
            errors.append(f"{type(fault).__name__}: {fault}")
        time.sleep(max(0.0, began + pause - time.monotonic()))
