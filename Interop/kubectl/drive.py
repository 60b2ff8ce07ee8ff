#!/usr/bin/env python3
"""kubectl lists namespaces with tokens of our server, from `counterfoil credential kubectl`.

The API server is a small one behind TLS. It takes an access token that UserInfo takes, and an ID token of the client.
From a sign-in for two API servers, each gets an access token for itself only.
"""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from apache import Authority  # noqa: E402
from local_servers import Counterfoil, drive, expect, person_environment, products  # noqa: E402
from our_client import REDIRECT_URI, Client  # noqa: E402
from protected_site import Handler, claims_of, is_for, protected_site, user_of  # noqa: E402

SCOPES = ["openid", "profile", "offline_access"]
ANSWERS: dict[str, dict[str, object]] = {
    "/version": {"major": "1", "minor": "30", "gitVersion": "v1.30.0"},
    "/api": {"kind": "APIVersions", "versions": ["v1"]},
    "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": []},
    "/api/v1": {
        "kind": "APIResourceList",
        "groupVersion": "v1",
        "resources": [
            {"name": "namespaces", "singularName": "", "namespaced": False, "kind": "Namespace", "shortNames": ["ns"],
             "verbs": ["get", "list"]}
        ],
    },
    "/api/v1/namespaces": {
        "kind": "NamespaceList",
        "apiVersion": "v1",
        "metadata": {"resourceVersion": "1"},
        "items": [{"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "photos"}}],
    },
}


def is_id_token(token: str, issuer: str, client_id: str) -> bool:
    """Whether the claims are those of an ID token of the client; its signature is a matter of other drivers."""
    claims = claims_of(token)
    return claims.get("iss") == issuer and is_for(token, client_id)


class Cluster:
    """What the API server has received."""

    def __init__(self, issuer: str, client_id: str) -> None:
        self.issuer = issuer
        self.client_id = client_id
        self.received: list[str] = []
        # Whether it takes only tokens whose one audience is the cluster.
        self.is_strict = False

    def knows(self, token: str, site: str) -> bool:
        """Whether the site takes a token."""
        if self.is_strict:
            return is_for(token, site)
        return user_of(self.issuer, token) is not None or is_id_token(token, self.issuer, self.client_id)

    def handler(self) -> type[Handler]:
        cluster = self

        class ClusterHandler(Handler):
            def do_GET(self) -> None:
                token = self.bearer
                if token:
                    cluster.received.append(token)
                known = token and cluster.knows(token, f"https://localhost:{self.server.server_address[1]}")
                answer = ANSWERS.get(self.path.partition("?")[0])
                if known and answer is not None:
                    return self.respond(200, json.dumps(answer).encode())
                code, reason = (404, "NotFound") if known else (401, "Unauthorized")
                status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": reason,
                          "reason": reason, "code": code}
                self.respond(code, json.dumps(status).encode())

        return ClusterHandler


def journey(folder: Path) -> str:
    password = secrets.token_urlsafe(18)
    server = Counterfoil(folder / "data", products())
    server.create_person("alice", password)
    environment = person_environment(folder, "alice", password)
    environment.update(HOME=str(folder), COUNTERFOIL_STORE=f"file:{folder / 'tokens'}", NO_PROXY="127.0.0.1,localhost")
    application = server.create_application("kubectl", REDIRECT_URI, SCOPES)
    authority = Authority(folder / "tls", ["localhost"])
    cluster = Cluster(server.issuer, application)

    def kubectl(site: str, version: str, *arguments: str, works: bool = True) -> str:
        configuration = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "work",
            "clusters": [
                {"name": "work", "cluster": {"server": site, "certificate-authority": str(authority.certificate)}}
            ],
            "contexts": [{"name": "work", "context": {"cluster": "work", "user": "alice"}}],
            "users": [
                {
                    "name": "alice",
                    "user": {
                        "exec": {
                            "apiVersion": f"client.authentication.k8s.io/{version}",
                            "command": str(products() / "counterfoil"),
                            "args": ["credential", "kubectl", *arguments],
                            "interactiveMode": "Never",
                            "provideClusterInfo": True,
                        }
                    },
                }
            ],
        }
        file = folder / "kubeconfig"
        file.touch(0o600)
        file.write_text(json.dumps(configuration), "utf-8")
        result = subprocess.run(
            ["kubectl", "--kubeconfig", str(file), "get", "namespaces", "--output", "name"],
            env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
        )
        expect((result.returncode == 0) == works, f"kubectl ended with {result.returncode}:\n{result.stderr}")
        return result.stdout if works else result.stderr

    shown = subprocess.run(
        ["kubectl", "version", "--client", "--output", "json"], env=environment, capture_output=True, check=True
    )
    program = json.loads(shown.stdout)["clientVersion"]
    # client.authentication.k8s.io/v1 came with kubectl 1.22.
    versions = ["v1beta1"] + ["v1"] * (int(program["minor"].rstrip("+")) >= 22)
    with server.serving(folder / "server.log"), protected_site(cluster.handler(), authority) as port, \
            protected_site(cluster.handler(), authority) as other:
        site = f"https://localhost:{port}"
        client = Client(folder, environment, server.issuer, application)
        said = kubectl(site, versions[-1], works=False)
        expect("no user is signed in" in said, f"without a sign-in: {said}")
        client.login("--scope", " ".join(SCOPES), "--api", site)
        for version in versions:
            for arguments in ([], ["--id-token"]):
                cluster.received.clear()
                listed = kubectl(site, version, *arguments)
                expect(listed == "namespace/photos\n", f"kubectl lists {listed!r}")
                sent = set(cluster.received)
                expect(len(sent) == 1 and (client.token() in sent) != bool(arguments), "another token was sent")

        first = client.token()
        expire(client, environment, port)
        expect(kubectl(site, versions[-1]) == "namespace/photos\n", "kubectl lists nothing with a refreshed token")
        expect(cluster.received[-1] not in ("", first), "the expired token was not refreshed")

        cluster.received.clear()
        said = kubectl(f"https://localhost:{other}", versions[-1], works=False)
        expect("sign in again and name" in said, f"at a cluster that the sign-in does not name: {said}")
        expect(not cluster.received, "a cluster that the sign-in does not name received a token")

        # A token that the authorization server has revoked is refused; the thief has a copy of the store.
        copy = client.copy("copied-tokens")
        client.logout()
        environment["COUNTERFOIL_STORE"] = f"file:{folder / 'copied-tokens'}"
        kubectl(site, versions[-1], works=False)
        expect(bool(cluster.received), "the revoked token was not tried")
        del copy

        # One sign-in for two APIs: each cluster takes only a token for itself.
        environment["COUNTERFOIL_STORE"] = f"file:{folder / 'both'}"
        sites = [site, f"https://localhost:{other}"]
        scopes = [*SCOPES, *server.create_apis(*sites)]
        registered = server.create_application("kubectl-both", REDIRECT_URI, scopes)
        both = Client(folder, environment, server.issuer, registered, "both")
        both.login("--scope", " ".join(scopes), "--resource", sites[0], "--resource", sites[1])
        cluster.is_strict = True
        cluster.received.clear()
        for place in (*sites, *sites):
            expect(kubectl(place, versions[-1]) == "namespace/photos\n", f"kubectl lists nothing at {place}")
        sent = set(cluster.received)
        expect(sent == {both.token("--resource", place) for place in sites}, f"kubectl sent {len(sent)} tokens")
        expect(both.token() not in sent, "kubectl sent the token of the whole sign-in")
    return (
        f"kubectl {program['gitVersion']}: listed with an access token and an ID token ({', '.join(versions)}); "
        "another cluster got none; from one sign-in for two APIs, each got a token for itself"
    )


def expire(client: Client, environment: dict[str, str], port: int) -> None:
    """Expires the stored access token, as a program does that had it rejected."""
    subprocess.run(
        [str(products() / "counterfoil"), "credential", "git", "erase"],
        input=f"protocol=https\nhost=localhost:{port}\npassword={client.token()}\n\n",
        env=environment, check=True, text=True, timeout=60,
    )


if __name__ == "__main__":
    sys.exit(drive(journey, ("kubectl", "openssl")))
