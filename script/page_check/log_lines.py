"""What the sources log, what the pages quote, and where the two differ."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

#: Every warning and every error of the log has a row in a table of this page.
LINES = "docs/operations/log-lines.md"
PAGES = ("docs/operations.md", "docs/operations/*.md", "docs/alerts.md")
#: The programs of which the pages quote messages.
QUOTED = ("Counterfoil*", "counterfoil-server", "ACMEClient", "HTTPListener", "MailTransport")
#: The targets that log nothing in the server.
NOT_SERVER = ("CounterfoilClient", "CounterfoilHummingbird")

#: A message that one literal of the sources has only in parts, and the parts.
COMPOSED = {
    "failed to write the heartbeat to the store": ("failed to ", "write the heartbeat to the store"),
    "succeeded again to write the heartbeat to the store": ("succeeded again to ", "write the heartbeat to the store"),
    "failed to find space in the store": ("failed to ", "find space in the store"),
    "succeeded again to find space in the store": ("succeeded again to ", "find space in the store"),
    "failed to record which codes got their tokens": ("failed to ", "record which codes got their tokens"),
    "succeeded again to record which codes got their tokens": (
        "succeeded again to ", "record which codes got their tokens"),
    "the store is damaged: …": ("the store is damaged: ",),
    "cannot read the server key …": ("cannot read ", "the server key"),
}
#: Calls whose message is made elsewhere, and the rows that stand for them.
NOT_LITERAL = {
    "\\(fault)": ("the store is damaged: …", "SQLite error"),
    "\\(plainHTTP.message)": ("serving plain HTTP for an https issuer",),
    "failed to \\(job)": (
        "failed to write the heartbeat to the store", "failed to find space in the store", "failed to record which codes got their tokens"),
}
#: Quotes of other programs.
OF_OTHERS = re.compile(r"SQLite error \d+|PostgreSQL error|Failed to set thread priority|Address already in use")
#: The first words of commands, which are no messages.
COMMANDS = re.compile(
    r"sudo|systemctl|systemd-\w+|journalctl|counterfoil(-server)?|script/\S+|certbot|lego|apt-get|chmod|chown|psql|after-restore|"
    r"openssl|curl|restic|gpg|age|age-keygen|ls|df|du|head|install|ss|iostat|fuser|touch|user|app|key|audit|certificate|"
    r"config|dpkg|ip|migrate|serve|man|option|http-check|http-request|default-server|proxy_[a-z_]+|server|cf|ALTER|GRANT|"
    r"CREATE|SHOW|SELECT|pg_\w+|doctor|health|backup|restore|http-send-name-header|retry-on|use_backend|acl|balance|"
    r"kill|pgrep|mount|promtool|podman|docker|nginx|haproxy|kubectl|RequestHeader"
)

_CALL = re.compile(r"\b(?:\w*[lL]ogger|target)\.(error|warning|notice)\(\s*|\b\w*Fault\.(log)\(\s*")
_LITERAL = re.compile(r'"((?:[^"\\\n]|\\\((?:[^()"\n]|"[^"\n]*"|\([^()\n]*\))*\)|\\.)*)"')
_BLOCK = re.compile(r'"""\n(.*?)"""', re.DOTALL)
_JOINED = re.compile(r'"\s*\n\s*\+ "')
_INTERPOLATION = re.compile(r'\\\((?:[^()"\n]|"[^"\n]*"|\([^()\n]*\))*\)')
_SPAN = re.compile(r"`([^`\n]+)`")
_WORD = re.compile(r"[A-Za-z][\w'’-]*[,;:.]?|…[,;:.]?|\(\S*[\w…]\)?|\w*\)|\d+[,;.]?")


@dataclass(frozen=True)
class Event:
    """One call of a logger: its level, and the literal that it logs."""

    level: str
    message: str


def literals(text: str) -> list[str]:
    """The string literals of a Swift file, each with those that `+` appends on the next lines; blocks in one line."""
    blocks = [re.sub(r"\\\\?\s*\n\s*", " ", found[1]) for found in _BLOCK.finditer(text)]
    return [*(re.sub(r" +", " ", block) for block in blocks), *(
        found[1] for found in _LITERAL.finditer(_JOINED.sub("", _BLOCK.sub("", text))))]


def events(text: str) -> list[Event]:
    """The warnings, errors and notices that a Swift file logs; without those whose message is a variable."""
    text = _JOINED.sub("", text)
    found = []
    for call in _CALL.finditer(text):
        if literal := _LITERAL.match(text, call.end()):
            found.append(Event(call[1] or "error", literal[1]))
    return found


def fragments(quote: str) -> list[str]:
    """The parts of a quote between what differs from one line to the next."""
    return [part.strip(" ,;:.") for part in re.split(r"…", quote) if part.strip(" ,;:.")]


def contains(message: str, quote: str) -> bool:
    """A literal has every part of a quote, in order, and none of them across an interpolation."""
    pieces = _INTERPOLATION.sub("\0", message).replace('\\"', '"')
    place = 0
    for part in fragments(quote):
        place = pieces.find(part, place)
        if place < 0:
            return False
        place += len(part)
    return True


def is_message(span: str) -> bool:
    """A span of code is a message if it has three words, and is no command."""
    words = span.split()
    return len(words) >= 3 and all(_WORD.fullmatch(word) for word in words) and not COMMANDS.fullmatch(words[0])


def rows(page: str) -> list[tuple[list[str], str]]:
    """The rows of the tables: the quotes of the first cell, and the second cell."""
    found = []
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| `") and len(cells) >= 2:
            found.append((_SPAN.findall(cells[0]), cells[1]))
    return found


def sources(root: Path) -> dict[str, str]:
    """The Swift files of the server, by their paths."""
    return {
        path.relative_to(root).as_posix(): path.read_text("utf-8")
        for folder in ("Sources", "Server/Sources")
        for target in QUOTED for path in sorted((root / folder).glob(f"{target}/**/*.swift"))
    }


def findings(files: dict[str, str], pages: dict[str, str]) -> list[str]:
    """Where the pages and the sources differ."""
    known = [literal for text in files.values() for literal in literals(text)]
    found = []
    for path, page in pages.items():
        table = {quote for quotes, _ in rows(page) for quote in quotes} if path == LINES else set()
        spans = [span for span in _SPAN.findall(re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL))]
        for quote in dict.fromkeys(spans):
            if (quote not in table and not is_message(quote)) or OF_OTHERS.search(quote) or quote.startswith("…"):
                continue
            parts = COMPOSED.get(quote, (quote,))
            if not all(any(contains(literal, part) for literal in known) for part in parts):
                found.append(f"{path}: no literal of the sources has `{quote}`")
    listed = rows(pages[LINES])
    for path, text in files.items():
        if path.removeprefix("Server/").split("/")[1] in NOT_SERVER:
            continue
        for event in events(text):
            wanted = NOT_LITERAL.get(event.message, (event.message,))
            for message in wanted:
                levels = [level for quotes, level in listed if any(
                    contains(message, quote) or message in quote for quote in quotes if fragments(quote) and not quote.startswith("…"))]
                if not levels and event.level != "notice":
                    found.append(f"{LINES}: no row for the {event.level} “{message}” of {path}")
                elif levels and not any(event.level in level for level in levels):
                    found.append(f"{LINES}: the level of “{message}” is {event.level} in {path}")
    return found


def of_repository(root: Path) -> list[str]:
    """The findings in a checkout."""
    pages = {
        path.relative_to(root).as_posix(): path.read_text("utf-8")
        for pattern in PAGES for path in sorted(root.glob(pattern))
    }
    return findings(sources(root), pages)
