#!/usr/bin/env python3
"""The AWS command line signs requests with credentials of a role, from `counterfoil credential aws`.

The Security Token Service is a small one. It exchanges an ID token of the client, and checks the signature of the
requests that follow (Signature Version 4). From a sign-in for two services, each gets an access token for itself only.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import subprocess
import sys
import time
import urllib.parse
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from local_servers import Counterfoil, drive, expect, person_environment, products  # noqa: E402
from our_client import REDIRECT_URI, Client  # noqa: E402
from protected_site import Handler, claims_of, is_for, protected_site  # noqa: E402

SCOPES = ["openid", "profile", "offline_access"]
ROLE = "arn:aws:iam::123456789012:role/photos"


def document(action: str, inside: str) -> bytes:
    return (
        f'<{action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><{action}Result>{inside}'
        f"</{action}Result><ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></{action}Response>"
    ).encode()


class Service:
    """What the service has issued and received."""

    def __init__(self, issuer: str, client_id: str) -> None:
        self.issuer = issuer
        self.client_id = client_id
        self.key_id = "ASIA" + secrets.token_hex(8).upper()
        self.key = secrets.token_urlsafe(30)
        self.session = secrets.token_urlsafe(30)
        self.role = ROLE
        self.exchanges = 0
        self.received: set[str] = set()
        # Whether it takes only access tokens whose one audience is the service.
        self.is_strict = False

    def has_signed(self, handler: Handler, body: bytes) -> bool:
        """Whether the request has a signature by the credentials that the service has issued."""
        algorithm, _, fields = handler.headers.get("Authorization", "").partition(" ")
        parts = dict(part.strip().split("=", 1) for part in fields.split(",") if "=" in part)
        key_id, _, scope = parts.get("Credential", "").partition("/")
        if algorithm != "AWS4-HMAC-SHA256" or key_id != self.key_id or scope.count("/") != 3:
            return False
        if handler.headers.get("X-Amz-Security-Token") != self.session:
            return False
        names = parts["SignedHeaders"]
        signed = "".join(f"{name}:{(handler.headers.get(name) or '').strip()}\n" for name in names.split(";"))
        canonical = "\n".join(["POST", "/", "", signed, names, hashlib.sha256(body).hexdigest()])
        digest = hashlib.sha256(canonical.encode()).hexdigest()
        text = "\n".join([algorithm, handler.headers["X-Amz-Date"], scope, digest])
        key = f"AWS4{self.key}".encode()
        for step in [*scope.split("/"), text]:
            key = hmac.new(key, step.encode(), hashlib.sha256).digest()
        return hmac.compare_digest(key.hex(), parts.get("Signature", ""))

    def handler(self) -> type[Handler]:
        service = self

        class ServiceHandler(Handler):
            def do_POST(self) -> None:
                body = self.body()
                form = {name: values[0] for name, values in urllib.parse.parse_qs(body.decode()).items()}
                action = form.get("Action")
                if action == "AssumeRoleWithWebIdentity" and self.path == "/":
                    service.exchanges += 1
                    token = form["WebIdentityToken"]
                    service.received.add(token)
                    site = f"http://127.0.0.1:{self.server.server_address[1]}"
                    audience = site if service.is_strict else service.client_id
                    if claims_of(token).get("iss") == service.issuer and is_for(token, audience) \
                            and form["RoleArn"] == service.role:
                        expiration = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))
                        inside = (
                            f"<Credentials><AccessKeyId>{service.key_id}</AccessKeyId><SecretAccessKey>{service.key}"
                            f"</SecretAccessKey><SessionToken>{service.session}</SessionToken>"
                            f"<Expiration>{expiration}</Expiration></Credentials>"
                        )
                        return self.respond(200, document(action, inside), "text/xml")
                if action == "GetCallerIdentity" and service.has_signed(self, body):
                    inside = "<Arn>arn:aws:sts::123456789012:assumed-role/photos/counterfoil</Arn>"
                    return self.respond(200, document(action, inside), "text/xml")
                error = "<Error><Type>Sender</Type><Code>AccessDenied</Code><Message>no</Message></Error>"
                self.respond(403, f"<ErrorResponse>{error}</ErrorResponse>".encode(), "text/xml")

        return ServiceHandler


def journey(folder: Path) -> str:
    password = secrets.token_urlsafe(18)
    server = Counterfoil(folder / "data", products())
    server.create_person("alice", password)
    environment = person_environment(folder, "alice", password)
    for name in [name for name in environment if name.startswith("AWS_")]:
        del environment[name]
    environment.update(
        AWS_CONFIG_FILE=str(folder / "aws"),
        AWS_SHARED_CREDENTIALS_FILE=str(folder / "none"),
        AWS_EC2_METADATA_DISABLED="true",
        COUNTERFOIL_STORE=f"file:{folder / 'tokens'}",
        NO_PROXY="127.0.0.1",
    )
    application = server.create_application("aws", REDIRECT_URI, SCOPES)
    service = Service(server.issuer, application)

    with server.serving(folder / "server.log"), protected_site(service.handler()) as port, \
            protected_site(service.handler()) as other:

        def aws(port: int, *options: str, works: bool = True) -> str:
            site = f"http://127.0.0.1:{port}"
            helper = f"{products() / 'counterfoil'} credential aws --role-arn {ROLE} --sts-endpoint {site}"
            helper = " ".join([helper, *options])
            (folder / "aws").write_text(f"[default]\nregion = eu-central-1\ncredential_process = {helper}\n", "utf-8")
            command = ["aws", "sts", "get-caller-identity", "--endpoint-url", site, "--output", "json"]
            result = subprocess.run(
                command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120
            )
            expect((result.returncode == 0) == works, f"aws ended with {result.returncode}:\n{result.stderr}")
            return result.stdout if works else result.stderr

        client = Client(folder, environment, server.issuer, application)
        said = aws(port, works=False)
        expect("no user is signed in" in said, f"without a sign-in: {said}")
        client.login("--scope", " ".join(SCOPES), "--api", f"http://127.0.0.1:{port}")
        expect("assumed-role/photos" in json.loads(aws(port))["Arn"], "the service does not know the role")

        exchanges = service.exchanges
        said = aws(other, works=False)
        expect("sign in again and name" in said, f"at a service that the sign-in does not name: {said}")
        expect(service.exchanges == exchanges, "a service that the sign-in does not name received a token")

        service.role = "arn:aws:iam::123456789012:role/another"
        said = aws(port, works=False)
        expect("AccessDenied: no" in said, f"for another role: {said}")

        # One sign-in for two APIs: each service takes only a token for itself.
        environment["COUNTERFOIL_STORE"] = f"file:{folder / 'both'}"
        sites = [f"http://127.0.0.1:{port}", f"http://127.0.0.1:{other}"]
        scopes = [*SCOPES, *server.create_apis(*sites)]
        registered = server.create_application("aws-both", REDIRECT_URI, scopes)
        both = Client(folder, environment, server.issuer, registered, "both")
        both.login("--scope", " ".join(scopes), "--resource", sites[0], "--resource", sites[1])
        service.role = ROLE
        service.is_strict = True
        service.received.clear()
        for place in (port, other):
            arn = json.loads(aws(place, "--access-token"))["Arn"]
            expect("assumed-role/photos" in arn, f"the service at {place} does not know the role")
        expect(service.received == {both.token("--resource", site) for site in sites}, "another token was exchanged")
        expect(both.token() not in service.received, "aws exchanged the token of the whole sign-in")
    shown = subprocess.run(["aws", "--version"], env=environment, capture_output=True, text=True, check=True)
    return (
        f"{shown.stdout.split()[0]}: signed a request as the role; another service got no token; "
        "from one sign-in for two APIs, each got a token for itself"
    )


if __name__ == "__main__":
    sys.exit(drive(journey, ("aws",)))
