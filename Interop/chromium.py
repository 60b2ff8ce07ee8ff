"""A headless Chromium on this machine, in which a driver uses an application and the pages of our server."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from local_servers import Failed
from person import origin, without_query

PROGRAMS = ("chromedriver",)
SECONDS = 20

Found = TypeVar("Found")


def browser_person() -> ModuleType:
    """The browser of `script/browser-person`, which has no ending by which Python would find it."""
    program = str(Path(__file__).resolve().parent.parent / "script" / "browser-person")
    loader = importlib.machinery.SourceFileLoader("browser_person", program)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("browser_person", loader))
    sys.modules[module.__name__] = module
    loader.exec_module(module)
    return module


_module = browser_person()
Lost = _module.Lost


class Chromium(_module.Browser):  # type: ignore[name-defined, misc]
    """One Chromium, with its windows, its scripts and its console."""

    def until(self, what: str, condition: Callable[[], Found | None]) -> Found:
        """Waits until the condition returns something."""
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            try:
                if found := condition():
                    return found
            except Lost:  # The page was replaced meanwhile.
                pass
            time.sleep(0.05)
        said = " ".join(self.text().split())[:300]
        raise Failed(f"{what} does not come; “{self.title()}” at {without_query(self.address())} says “{said}”")

    def press(self, selector: str) -> None:
        """Presses a button as soon as it can be pressed."""

        def pressed() -> bool:
            self.click(found) if (found := self.find(selector)) else None
            return found is not None

        self.until(selector, pressed)

    def fill(self, selector: str, text: str) -> None:
        """Types into a field as soon as it is there."""
        self.type(self.until(selector, lambda: self.find(selector)), text)

    def text_of(self, selector: str) -> str:
        """What an element says; nothing if there is none."""
        found = self.find(selector)
        return str(self._send("GET", f"/element/{found}/text")) if found else ""

    def run(self, script: str, *arguments: Any) -> Any:
        """Runs a script in the page and returns its value."""
        return self._send("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def found_by(self, script: str, *arguments: Any) -> str | None:
        """The element that a script returns."""
        found = self.run(script, *arguments)
        return str(found[_module.ELEMENT]) if found else None

    def reload(self) -> None:
        self._send("POST", "/refresh", {})

    def windows(self) -> list[str]:
        return list(self._send("GET", "/window/handles"))

    def switch_to(self, window: str) -> None:
        self._send("POST", "/window", {"handle": window})

    def console(self) -> list[str]:
        """What the browser has to say about the pages, CORS included."""
        return [f"{line['level']} {line['message']}" for line in self._send("POST", "/se/log", {"type": "browser"})]

    def sign_in(self, server: str, name: str, password: str) -> None:
        """Signs in on the page of our server, if it asks, and allows what the application wants."""
        form = "form:has(input[name=password])"
        allow = "button[name=decision][value=allow]"
        asked = self.until(
            "a page of our server",
            lambda: origin(self.address()) == server and (self.find(form) or self.find(allow)),
        )
        if self.find(form) == asked:
            self.fill("input[name=username]", name)
            self.fill("input[name=password]", password)
            self.press(f"{form} :is(button:not([type=button]), input[type=submit])")
        self.press(allow)

    @staticmethod
    def _capabilities(folder: Path) -> dict[str, Any]:
        capabilities = _module.Browser._capabilities(folder)
        capabilities["alwaysMatch"]["goog:loggingPrefs"] = {"browser": "ALL"}
        return dict(capabilities)


@contextmanager
def chromium(folder: Path) -> Iterator[Chromium]:
    """A Chromium, for as long as the block runs; its console goes into a log of the folder when something fails."""
    with tempfile.TemporaryDirectory(prefix="counterfoil-chromium-") as place:
        with Chromium(Path(place)) as browser:
            try:
                yield browser
            except BaseException:
                (folder / "console.log").write_text("\n".join(browser.console()), "utf-8")
                raise
