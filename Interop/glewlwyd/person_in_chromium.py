#!/usr/bin/env python3
"""A person in front of a headless Chromium, for glewlwyd, whose pages are a program: signs in and allows what is asked.

As $BROWSER it takes the address, goes into the background and returns at once, as browsers do; its variables are those
of `person.py`.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

INTEROP = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(INTEROP))
from chromium import browser_person  # noqa: E402
from person import Lost, in_background, is_start, noting, origin, without_query  # noqa: E402

SECONDS = 30

NAME, PASSWORD, SIGN_IN = "#passwordForm #username", "#passwordForm #password", "#passwordForm #loginbut"
GO_ON = ".card-footer button.btn-success"


def sign_in(url: str, name: str, password: str, note: Callable[[str], None]) -> str:
    """Opens an address, does what the pages ask, and returns the address where it ended."""
    chromium = browser_person()
    folders = tempfile.TemporaryDirectory(prefix="counterfoil-chromium-")
    with folders as folder, chromium.Browser(Path(folder)) as browser:
        browser.open(url)
        server = origin(browser.address() if is_start(url) else url)
        typed = False
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            time.sleep(0.1)
            try:
                address = str(browser.address())
                if origin(address) != server or "prompt=deviceComplete" in address:
                    return address
                if not typed and (field := browser.find(NAME)):
                    browser.type(field, name)
                    browser.type(browser.find(PASSWORD), password)
                    browser.click(browser.find(SIGN_IN))
                    typed = True
                    note(f"typed the password at {without_query(browser.address())}")
                elif go_on := browser.find(GO_ON):
                    note(f"continues: {' / '.join(browser.text().split(chr(10)))}")
                    browser.click(go_on)
            except chromium.Lost:  # The page went away under the question.
                continue
        raise Lost(f"“{browser.title()}” says “{' '.join(browser.text().split())}” at {browser.address()}")


def main() -> int:
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return 0 if len(sys.argv) == 2 else 64
    name = os.environ["PERSON_NAME"]
    password = Path(os.environ["PERSON_PASSWORD_FILE"]).read_text("utf-8").rstrip("\n")
    note = noting(Path(os.environ["PERSON_LOG"]))
    if not in_background():
        return 0
    try:
        note(f"arrived at {without_query(sign_in(sys.argv[1], name, password, note))}")
        return 0
    except Exception as fault:  # noqa: BLE001 - whatever happened is noted
        note(f"lost: {fault}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
