#!/usr/bin/env python3
"""The commands of README.md and of docs/guide/server-to-try.md, word for word, on a machine that has run none of them.

The driver types the password, writes down the secret that `resource create` prints, and is the user in the browser.
It runs the Swift code of README, and the Python API of docs/guide/apis.md in place of the sample API.
"""

from __future__ import annotations

import json
import re
import secrets
import sys
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import own_network  # noqa: E402
from guide_page import Clock, Page, Reader  # noqa: E402
from local_servers import MISSING, answers, drive, expect, person_environment, products  # noqa: E402
from our_client import status  # noqa: E402

DEMO, SERVE, API = "until you press Control-C", "Counterfoil serves http://localhost:8080", "photo-library listens on"
PHOTO = "First snow on the ridge"


def journey(folder: Path) -> str:
    clock = Clock()
    readme, guide = Page("README.md"), Page("docs/guide/server-to-try.md")
    build, demo, first = (block.commands for block in readme.under("Try it"))
    expect(build == guide.commands("A server to try"), "README and server-to-try build other programs")
    for program in re.findall(r"--product (\S+)", "\n".join(build)):
        expect((products() / program).exists(), f"{program} is not built")
    expect(demo == guide.commands("In one command"), "README and server-to-try run the demo in another way")

    with clock.step("the demo"):
        try_demo(reader(folder, "demo"), demo, first)
    try_readme(reader(folder, "readme"), readme, clock)
    with clock.step("server-to-try"):
        try_guide(reader(folder, "guide"), guide)
    return f"README and server-to-try as written: {clock.words}"


def try_demo(here: Reader, demo: list[str], first: list[str]) -> None:
    """Runs the demo, and the commands after it, which the demo prints, too."""
    login, whoami, library, call = first
    (command,) = demo
    with here.running(command, DEMO) as said:
        be_user(here, re.search(r"password: +(\S+)", said)[1])  # type: ignore[index]
        for each in first:
            expect(each in said, f"the demo does not print “{each}”:\n{said}")
        here.run(login)
        expect("Alice Andersen" in here.run(whoami), "whoami does not name the user of the demo")
        with here.running(library, API):
            expect(PHOTO in here.run(call), "the sample API has no photo for the user of the demo")


def try_readme(here: Reader, page: Page, clock: Clock) -> None:
    """Runs the three quick starts, one after the other."""
    (serve,), administer = (block.commands for block in page.under("Quick start for platform owners"))
    (register,), (library,) = (block.commands for block in page.under("Quick start for API developers"))
    login, call, doctor = page.commands("Quick start for app developers")
    with ExitStack() as servers:
        with clock.step("the owner"):
            servers.enter_context(here.running(serve, SERVE))
            set_up(here, administer)
            printed = here.run(register)
        with clock.step("the app and the sample API"):
            command = with_credentials(here, library, printed)
            with here.running(command, API):
                here.run(login)
                expect(PHOTO in here.run(call), "the sample API has no photo for the user")
                here.run(doctor)
                refuse_revoked(here, login)
        with clock.step("the Swift code"), here.running(command, API):
            expect(PHOTO in here.run("QuickStart"), "the Swift code has got no photos")
        with clock.step("the Python API"), here.running(python_api(here), "Running on http://127.0.0.1:8090"):
            here.run(login)
            photos = json.loads(here.run(call))
            expect(photos == {"owner": subject(here), "photos": []}, f"the Python API answered {photos}")


def with_credentials(here: Reader, command: str, printed: str) -> str:
    """Writes the secret of the API into the file that the command names; the command with its identifier."""
    api_id, secret = (re.search(rf"{name}: (\S+)", printed)[1] for name in ("client_id", "client_secret"))  # type: ignore[index]
    (here.folder / "api-secret").write_text(f"{secret}\n", "utf-8")
    expect("API_ID" in command and "api-secret" in command, f"the sample API gets no credentials: {command}")
    return command.replace("API_ID", api_id)


def try_guide(here: Reader, page: Page) -> None:
    """Runs the commands of the guide."""
    (serve,), administer, (library,), (login, call) = (block.commands for block in page.under("Step by step"))
    with here.running(serve, SERVE):
        set_up(here, administer)
        with here.running(library, API):
            here.run(login)
            expect(PHOTO in here.run(call), "the sample API has no photo for the user")
            try_service(here, page)


def try_service(here: Reader, page: Page) -> None:
    """Creates and registers the key of a service as its pages say, and calls the API as the service."""
    (key,) = Page("docs/guide/server-job.md").under("Create the key")
    here.run(key.text.replace("/etc/lightbox/key.pem", "key.pem"))
    (register,) = page.commands("A service")
    here.run(register)
    login, call = (local(command) for command in Page("docs/guide/command-line.md").commands("Services"))
    here.run(login.replace("/etc/lightbox/key.pem", "key.pem"))
    counted = json.loads(here.run(call.replace("/photos", "/statistics")))
    expect(counted == {"photos": 2}, f"the sample API counts {counted}")


def local(text: str) -> str:
    """A text of a page with the URLs of this machine, as the table of server-to-try.md has them."""
    return text.replace("https://id.example.com", "http://localhost:8080").replace(
        "https://photos.example.com", "http://127.0.0.1:8090")


def set_up(here: Reader, commands: list[str]) -> None:
    """Runs the commands of an operator, and types the password that the first one asks for."""
    password = secrets.token_urlsafe(18)
    create, *others = commands
    shown = here.type(create, [("Password: ", password), ("The same password again: ", password)])
    expect("Created the user alice." in shown, f"no user was created: {shown}")
    expect(password not in shown, "the terminal shows the password")
    for command in others:
        here.run(command)
    be_user(here, password)


def refuse_revoked(here: Reader, login: str) -> None:
    """Revokes a token that the API has not seen, which its signature does not show."""
    here.run(login)
    token = here.run("counterfoil token").strip()
    here.run("counterfoil logout")
    answered = status("http://127.0.0.1:8090/photos", token)
    expect(answered == 401, f"the sample API answered {answered} to a revoked token")


def python_api(here: Reader) -> str:
    """Writes the files of the Python API with the URLs of this machine; the command that runs it."""
    page = Page("docs/guide/apis.md")
    for name in ("bearer.py", "photos.py"):
        text = page.file("Python", name, holding="flask" if name == "photos.py" else "")
        (here.folder / name).write_text(local(text), "utf-8")
    return next(command for command in page.commands("Python") if command.startswith("flask "))


def subject(here: Reader) -> str:
    """The `sub` of the user."""
    return str(json.loads(here.run("counterfoil whoami --json"))["claims"]["sub"])


def reader(folder: Path, name: str) -> Reader:
    """A reader on a machine without a trace of an earlier one."""
    home = folder / name
    home.mkdir()
    return Reader(home, person_environment(folder, "alice", ""))


def be_user(here: Reader, password: str) -> None:
    """Gives the user behind the browser the password."""
    Path(here.environment["PERSON_PASSWORD_FILE"]).write_text(password, "utf-8")


if __name__ == "__main__":
    if not own_network.enter() and any(answers(f"http://127.0.0.1:{port}/") for port in (8080, 8090)):
        print("another program uses the ports of README; run as root, or stop it")
        sys.exit(MISSING)
    sys.exit(drive(journey))
