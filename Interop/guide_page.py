"""The fenced code of a page of this repository, word for word, and a terminal in which a reader executes it."""

from __future__ import annotations

import os
import pty
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from local_servers import ROOT, Failed, products, stop, tail

SECONDS = 60


@dataclass(frozen=True)
class Block:
    """One fenced block: the nearest heading above it, the language, and the lines between the fences."""

    heading: str
    language: str
    text: str

    @property
    def commands(self) -> list[str]:
        """The shell commands; a line continues after a backslash or a pipe, and a comment is no command."""
        joined = re.sub(r"(\\|\|)\n", r"\1\0", self.text)
        lines = (line.replace("\0", "\n") for line in joined.splitlines())
        return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


class Page:
    """A page below the root of the repository."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.blocks: list[Block] = []
        heading, language = "", None
        lines: list[str] = []
        for line in (ROOT / path).read_text("utf-8").splitlines():
            if line.startswith("```"):
                if language is None:
                    language, lines = line[3:], []
                else:
                    self.blocks.append(Block(heading, language, "\n".join(lines) + "\n"))
                    language = None
            elif language is not None:
                lines.append(line)
            elif line.startswith("#"):
                heading = line.lstrip("#").strip()

    def under(self, heading: str, language: str = "sh") -> list[Block]:
        """The blocks under a heading in a language; there has to be one."""
        found = [block for block in self.blocks if block.heading == heading and block.language == language]
        if not found:
            raise Failed(f"{self.path} has no block of {language} under “{heading}”")
        return found

    def commands(self, heading: str) -> list[str]:
        """The shell commands under a heading, in the order of the page."""
        return [command for block in self.under(heading) for command in block.commands]

    def file(self, heading: str, name: str, holding: str = "") -> str:
        """The source file under a heading that names itself in its first line, and has a text in it."""
        for block in self.blocks:
            first = block.text.partition("\n")[0]
            if block.heading == heading and first in (f"# {name}", f"// {name}") and holding in block.text:
                return block.text
        raise Failed(f"{self.path} has no file {name} under “{heading}”")


class Reader:
    """A reader with terminals in one directory, and with the programs of this repository on `PATH`."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self.environment = {
            **environment,
            "HOME": str(folder),
            "PATH": f"{Path(sys.executable).parent}:{products()}:{environment['PATH']}",
            "COUNTERFOIL_STORE": f"file:{folder / 'tokens'}",
            "PYTHONUNBUFFERED": "1",
        }
        for name in ("COUNTERFOIL_DATA_DIR", "COUNTERFOIL_PRODUCTS", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
            self.environment.pop(name, None)

    def run(self, command: str, wanted: int = 0) -> str:
        """Runs a command to its end; what it printed, or its error where it is to fail."""
        result = subprocess.run(
            ["bash", "-c", command], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=2 * SECONDS,
        )
        if result.returncode != wanted:
            raise Failed(f"{command}\nended with {result.returncode}, not {wanted}:\n{result.stdout}{result.stderr}")
        return result.stdout if wanted == 0 else result.stderr

    def type(self, command: str, answers: list[tuple[str, str]]) -> str:
        """Runs a command on a terminal and answers its questions; what the terminal showed."""
        keyboard, screen = pty.openpty()
        process = subprocess.Popen(
            ["bash", "-c", command], cwd=self.folder, env=self.environment, stdin=screen, stdout=screen, stderr=screen,
            start_new_session=True,
        )
        os.close(screen)
        shown = ""
        try:
            for question, answer in answers:
                while question not in shown:
                    shown += self._read(keyboard, f"{command} does not ask “{question}”:\n{shown}")
                shown = shown.partition(question)[2]
                os.write(keyboard, f"{answer}\n".encode())
            rest = []
            while chunk := self._rest(keyboard):
                rest.append(chunk)
            if process.wait(SECONDS) != 0:
                raise Failed(f"{command}\nended with {process.returncode}:\n{''.join(rest)}")
            return "".join(rest)
        finally:
            stop(process)
            os.close(keyboard)

    @contextmanager
    def running(self, command: str, says: str) -> Iterator[str]:
        """A server for as long as the block runs, from when it has said this on; what it has said."""
        name = re.sub(r"\W+", "-", " ".join(shlex.split(command)[:2]))
        log = self.folder.parent / f"{self.folder.name}-{name}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                ["bash", "-c", f"exec {command}"], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            )
        try:
            end = time.monotonic() + SECONDS
            while says not in (said := log.read_text("utf-8", "replace")):
                if process.poll() is not None or time.monotonic() > end:
                    raise Failed(f"{command}\ndoes not say “{says}”:\n{tail(log)}")
                time.sleep(0.05)
            yield said
        finally:
            stop(process)

    @staticmethod
    def _read(keyboard: int, otherwise: str) -> str:
        try:
            chunk = os.read(keyboard, 4096)
        except OSError:
            chunk = b""
        if not chunk:
            raise Failed(otherwise)
        return chunk.decode("utf-8", "replace")

    @staticmethod
    def _rest(keyboard: int) -> str:
        try:
            return os.read(keyboard, 4096).decode("utf-8", "replace")
        except OSError:  # No program has the terminal any more.
            return ""


class Clock:
    """What each step took."""

    def __init__(self) -> None:
        self._steps: list[str] = []
        self._start = time.monotonic()

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """A step, which counts when it succeeds."""
        start = time.monotonic()
        yield
        self._steps.append(f"{name} {time.monotonic() - start:.1f} s")

    @property
    def words(self) -> str:
        """Every step, and all of them."""
        return f"{', '.join(self._steps)}; together {time.monotonic() - self._start:.1f} s"
