#!/usr/bin/env python3
"""git clones and pushes with tokens of our server, from `counterfoil credential git`.

The git server is `git http-backend`, which is told the user of the token. A token that it rejects is replaced; a host
that the sign-in does not name gets none. From a sign-in for two git servers, each gets a token for itself only.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from local_servers import Counterfoil, drive, expect, person_environment, products  # noqa: E402
from our_client import REDIRECT_URI, Client  # noqa: E402
from protected_site import Handler, is_for, protected_site, user_of  # noqa: E402

SCOPES = ["openid", "profile", "offline_access"]


class Hub:
    """What the git server knows, and what it was sent."""

    def __init__(self, issuer: str, repositories: Path) -> None:
        self.issuer = issuer
        self.repositories = repositories
        self.rejected: set[str] = set()
        self.received: list[tuple[str, str]] = []
        # Whether it takes only tokens whose one audience is the site.
        self.is_strict = False

    def user(self, token: str, site: str) -> str | None:
        """The user of a token that the site takes."""
        if not token or token in self.rejected:
            return None
        if self.is_strict:
            return "alice" if is_for(token, site) else None
        return user_of(self.issuer, token)

    def handler(self) -> type[Handler]:
        hub = self

        class GitHandler(Handler):
            def do_GET(self) -> None:
                body = self.body()
                name, password = self.basic
                if password:
                    hub.received.append((name, password))
                user = hub.user(password, f"http://127.0.0.1:{self.server.server_address[1]}")
                if user is None:
                    return self.respond(401, b"no", "text/plain", WWW_Authenticate='Basic realm="git"')
                path, _, query = self.path.partition("?")
                result = subprocess.run(
                    ["git", "http-backend"],
                    input=body,
                    capture_output=True,
                    env={
                        **os.environ,
                        "GIT_PROJECT_ROOT": str(hub.repositories),
                        "GIT_HTTP_EXPORT_ALL": "1",
                        "REQUEST_METHOD": self.command,
                        "PATH_INFO": path,
                        "QUERY_STRING": query,
                        "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                        "CONTENT_LENGTH": str(len(body)),
                        "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                        "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                        "REMOTE_USER": user,
                        "REMOTE_ADDR": "127.0.0.1",
                    },
                )
                head, _, answer = result.stdout.partition(b"\r\n\r\n")
                fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
                kind = fields.pop("Content-Type", "text/plain")
                self.respond(int(fields.pop("Status", "200").split()[0]), answer, kind)

            do_POST = do_GET

        return GitHandler


def journey(folder: Path) -> str:
    password = secrets.token_urlsafe(18)
    server = Counterfoil(folder / "data", products())
    server.create_person("alice", password)
    environment = person_environment(folder, "alice", password)
    environment.update(
        HOME=str(folder),
        XDG_CONFIG_HOME=str(folder),
        GIT_CONFIG_NOSYSTEM="1",
        GIT_TERMINAL_PROMPT="0",
        COUNTERFOIL_STORE=f"file:{folder / 'tokens'}",
        NO_PROXY="127.0.0.1",
    )
    environment.pop("GIT_ASKPASS", None)
    application = server.create_application("git", REDIRECT_URI, SCOPES)
    hub = Hub(server.issuer, folder / "repositories")

    def git(*words: str, works: bool = True, place: Path = folder) -> str:
        result = subprocess.run(
            ["git", *words], cwd=place, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=60,
        )
        expect((result.returncode == 0) == works, f"git {words[0]} ended with {result.returncode}:\n{result.stderr}")
        return result.stdout if works else result.stderr

    version = git("--version").strip()
    for name, value in (("user.name", "Alice"), ("user.email", "alice@example.com"), ("init.defaultBranch", "main")):
        git("config", "--global", name, value)
    with server.serving(folder / "server.log"), protected_site(hub.handler()) as port, \
            protected_site(hub.handler()) as other:
        site = f"http://127.0.0.1:{port}"
        git("init", "--bare", str(hub.repositories / "photos.git"))
        git("config", "http.receivepack", "true", place=hub.repositories / "photos.git")
        # For every host: the helper itself knows to which it gives the token.
        git("config", "--global", "credential.helper", f"!{products() / 'counterfoil'} credential git")

        git("clone", f"{site}/photos.git", works=False)
        client = Client(folder, environment, server.issuer, application)
        client.login("--scope", " ".join(SCOPES), "--api", site)
        git("clone", f"{site}/photos.git")
        clone = folder / "photos"
        (clone / "readme").write_text("photos\n", "utf-8")
        git("add", "readme", place=clone)
        git("commit", "--message", "Add a photo", place=clone)
        git("push", "origin", "HEAD:main", place=clone)
        pushed = git("log", "--format=%s", "main", place=hub.repositories / "photos.git")
        expect(pushed == "Add a photo\n", f"the push left {pushed!r}")
        first = client.token()
        expect(set(hub.received) == {("oauth2", first)}, "git sent something else than the token")

        hub.rejected.add(first)
        git("fetch", place=clone, works=False)
        git("fetch", place=clone)
        second = client.token()
        expect(second != first and hub.received[-1] == ("oauth2", second), "the rejected token was not replaced")

        hub.received.clear()
        said = git("ls-remote", f"http://127.0.0.1:{other}/photos.git", works=False)
        expect("could not read Username" in said, f"git at a host that the sign-in does not name: {said}")
        expect(not hub.received, "a host that the sign-in does not name received a token")
        git("ls-remote", f"http://oauth2:wrong@127.0.0.1:{port}/photos.git", works=False)

        client.logout()
        git("fetch", place=clone, works=False)

        # One sign-in for two APIs: each site takes only a token for itself.
        sites = [site, f"http://127.0.0.1:{other}"]
        scopes = [*SCOPES, *server.create_apis(*sites)]
        both = Client(folder, environment, server.issuer, server.create_application("git-both", REDIRECT_URI, scopes))
        both.login("--scope", " ".join(scopes), "--resource", sites[0], "--resource", sites[1])
        hub.is_strict = True
        hub.received.clear()
        for place in (*sites, *sites):
            git("ls-remote", f"{place}/photos.git")
        sent = [token for _, token in hub.received]
        expect(len(set(sent)) == 2, f"git sent {len(set(sent))} tokens to two sites")
        expect(both.token("--resource", sites[0]) in sent, "another token for the site was requested")
        expect(both.token() not in sent, "git sent the token of the whole sign-in")
        rejected = both.token("--resource", sites[1])
        hub.rejected.add(rejected)
        git("ls-remote", f"{sites[1]}/photos.git", works=False)
        git("ls-remote", f"{sites[1]}/photos.git")
        expect(hub.received[-1][1] not in sent, "the rejected token was not replaced")
        git("ls-remote", f"{sites[0]}/photos.git")
        expect(hub.received[-1][1] in sent, "the token for the other site did not stay")
    return (
        f"{version}: cloned and pushed with our token; a rejected one was replaced, another host got none; "
        "from one sign-in for two APIs, each got a token for itself"
    )


if __name__ == "__main__":
    sys.exit(drive(journey, ("git",)))
