"""Runs each command of the pages for operators in the booted system, on a data directory and on PostgreSQL."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .first_sign_in import TRUSTED
from .https import NAME
from .journey import DATA, JOURNAL, SERVER, SETTINGS, free_port, until
from .system import Failed, System, expect

ROOT = Path(__file__).resolve().parents[2]
#: The folder in which the operator of the pages works.
HOME = "/root/pages"
PASSWORD = "another long passphrase of a user"
#: What the commands need besides the packages of the server and of the command line.
PACKAGES = ("sudo", "dbus", "curl", "jq", "openssl", "sqlite3", "iproute2", "psmisc", "age", "gnupg", "restic", "postgresql")
#: Pages that come last, in their order: they replace the data, the keys and the store.
LAST = ("backup.md", "restore.md", "keys.md", "in-other-hands.md", "upgrade.md")
POSTGRESQL = "postgresql.md"
GUIDE = "docs/guide/postgresql.md"
#: Pages and commands of which a data directory or a client is the subject.
NOT_OF_A_DATABASE = ("/backup.md", "/restore.md", "fuser", "prune-journal", "sqlite3", "counterfoil doctor https")
SECONDS = 300

#: What runs nowhere here: a part of a line, and the reason.
NOT_HERE = {
    "sudo apt-get install ./counterfoil": "script/package-check has installed the package before",
    "sudoedit ": "opens an editor; the check writes the file",
    "systemctl edit": "opens an editor",
    "journalctl --follow": "does not end; the check has waited for the line",
    "counterfoil login": "the check has signed in by the browser before",
    "counterfoil whoami": "the check has asked for it before",
    "sudo install -m 755 bin/counterfoil-server": "archives.py runs this block",
    "sudo install -D -m ": "archives.py runs this block",
    "sudo install -m 644 lib/": "archives.py runs this block",
    "podman load": "needs a container engine; image.py runs the image",
    "skopeo copy": "needs a container engine; image.py runs the image",
    "docker compose": "needs a container engine; image.py runs the image",
    "apt-get --option": "the upgrade of the check has this option",
    "apt-get purge": "the check purges the package as its last step",
    "certbot ": "needs an authority that reaches port 80; Interop/certificates runs it",
    "lego --path": "needs an authority that reaches port 80; Interop/certificates runs it",
    "mail test": "needs a mail server; MailTests has one",
    "iostat": "is a package that CI would install for one line",
    "sudo dmesg": "the kernel of CI can deny it to the system",
    "counterfoil-server serve ": "runs until it is stopped",
    "ssh -L": "needs a second machine",
    "counterfoil-server health https://127.0.0.1:8443": "is for a container with another port",
    "createuser --pwprompt": "asks for a password; the check creates the role",
}

#: What differs between the pages and this system.
REPLACED = (
    (r"https://id\.example\.com/readyz", "https://127.0.0.1:{port}/readyz"),
    (r"https://id\.example\.com", "https://localhost:{port}"),
    (r"id\.example\.com:443", "localhost:{port}"),
    (r"user password NAME", "user password alice --password-stdin <<<'{password}'"),
    (r"user create admin --role owner", "user create admin-$RANDOM --role owner --password-stdin <<<'{password}'"),
    (r"\bNAME\b", "alice"),
    (r"\bKIND\b", "sign-in"),
    (r"\b5zXqk0eM\b", "$KID"),
    (r"\b(CLIENT_ID|REFERENCE|WEBHOOK)\b(?!=)", r"$\1"),
)

_APP = f"""CLIENT_ID=$(sudo -u counterfoil {SERVER} app create --name Page --type TYPE | sed -n 's/.*client_id: *//p')
{{}}"""
_NATIVE = _APP.replace("TYPE", "native --redirect-uri http://127.0.0.1/callback")
_WEB = _APP.replace("TYPE", "web --redirect-uri https://app.example.com/callback")
_EMPTY_DATABASE = """sudo -u postgres dropdb --force --if-exists counterfoil
sudo -u postgres createdb --owner counterfoil --encoding UTF8 --template template0 counterfoil
"""
#: The socket instead of the address of the settings, and back.
_SOCKET = f"""
mkdir -p /etc/systemd/system/{SERVER}.socket.d
printf '[Socket]\\nListenStream=\\nListenStream=127.0.0.1:%s\\n' {{port}} >/etc/systemd/system/{SERVER}.socket.d/port.conf
systemctl daemon-reload
cp -p {SETTINGS} settings
sed -i 's/^listen: .*/listen: systemd:https/' {SETTINGS}
"""
_NO_SOCKET = f"""
systemctl list-sockets --no-pager | grep {SERVER}.service
systemctl disable --now {SERVER}.socket {SERVER}.service
cp -p settings {SETTINGS}
rm -r /etc/systemd/system/{SERVER}.socket.d
systemctl daemon-reload
systemctl enable --now {SERVER}
"""
#: What is done around a command: a part of it, and the script with its place.
AROUND = {
    "--client-id CLIENT_ID": _NATIVE,
    "app check CLIENT_ID": _NATIVE,
    "app show CLIENT_ID": _NATIVE,
    "app secret CLIENT_ID": _WEB,
    "webhook resume WEBHOOK": f"""WEBHOOK=$(sudo -u counterfoil {SERVER} webhook create https://hooks.example.com/ --label Page | grep -m 1 -o 'wh_[[:alnum:]]*')
{{}}""",
    # An argument does not begin with a hyphen.
    "key withdraw 5zXqk0eM": f"""KID=$(sudo -u counterfoil {SERVER} key list | sed -n 's/^\\([[:alnum:]_][^ ]*\\) .* signing since .*/\\1/p' | tail -n 1)
{{}}""",
    "REFERENCE": """REFERENCE=$(journalctl --unit counterfoil-server --no-pager | sed -n 's/.* request=\\([^ ]*\\) .*/\\1/p' | tail -n 1)
{}""",
    # It ends with 1 if there is no such line.
    " --grep ": "{} || test $? = 1",
    "systemctl enable --now counterfoil-server.socket": f"{_SOCKET}{{}}{_NO_SOCKET}",
    # A copy has the second in its name, and an operator does not make two in one.
    "systemctl start counterfoil-backup": """while [ -e "/var/backups/counterfoil/counterfoil-$(date --utc +%Y%m%dT%H%M%SZ).backup" ]; do :; done
{}""",
    "LoadCredential=server-key": f"""
install -D -m 600 {DATA}/server.key /etc/credstore/counterfoil.server-key
{{}}
rm /etc/credstore/counterfoil.server-key
""",
    "mv -T /var/lib/counterfoil /var/lib/counterfoil.before": f"""rm -rf {DATA}.before
cp {DATA}/server.key /root/
systemctl stop {SERVER}
sudo -u counterfoil {SERVER} backup --output - >/root/counterfoil.copy
{{}}""",
    # Each start is tried without the socket, and then with it.
    "systemctl unmask": f"""{{}}
systemctl stop {SERVER}
{_SOCKET}systemctl enable --now {SERVER}.socket
systemctl mask --now {SERVER}.service {SERVER}.socket
{{}}{_NO_SOCKET}""",
    # The other answer of the same step.
    "restore - --end-sign-ins": f"find {DATA} -type f -not -name server.key -delete\n{{}}\nmv {JOURNAL}/endings answered",
    "after-restore --endings-journal": f"""systemctl stop {SERVER}
{{}}
[ "$(systemctl is-enabled {SERVER})" = masked ] || systemctl start {SERVER}""",
    # The copies of before are those of another journal.
    "mkdir -m 700 drill": f"""sudo -u counterfoil {SERVER} backup --output - >counterfoil.copy
cp {DATA}/server.key .
mkdir journal
cp {JOURNAL}/endings* journal/
{{}}""",
    # PostgreSQL has a free port of this machine, whose network the system shares. Its own tools know it.
    ">server.key)": "rm -f server.key\nexport PGPORT=$(pg_lsclusters --no-header | awk '{print $3}')\n{}",
    "/dev/urandom >/var/lib/counterfoil/server.key'": f"mv {DATA}/server.key kept.key\n{{}}",
    # The page has begun with an empty database. The directory has its own key and journal, which continues.
    "migrate --from sqlite:": f"""
systemctl stop {SERVER}
mv kept.key {DATA}/server.key
mv kept.endings {JOURNAL}/endings
{_EMPTY_DATABASE}{{}}
""",
    # The new key seals the end of the audit log within seconds, before an operator types the next command.
    "head -c 32 server.key >": f"""
until sudo -u counterfoil {SERVER} audit verify --json | jq --exit-status '.unsealed == 0' >/dev/null; do :; done
{{}}""",
    # A restore of a moment in which a server ran has to wait for three minutes after that moment.
    "pg_dump": f"systemctl stop {SERVER}\n{{}}\nsystemctl start {SERVER}",
    "ALTER ROLE": "{}\nsudo -u postgres psql --command 'ALTER ROLE counterfoil RESET ALL'",
    # The journal is that of the restored database.
    "ALTER DATABASE counterfoil_before": f"systemctl stop {SERVER}\nrm {JOURNAL}/endings*\n{{}}\nsystemctl start {SERVER}",
}


@dataclass(frozen=True)
class Command:
    """A block of a page, or a command in its text."""

    page: str
    line: int
    text: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


_BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`((?:sudo|systemctl|journalctl|counterfoil-server|counterfoil|apt-get|certbot|df|du|ls|ss|iostat|"
                     r"openssl|fuser|sqlite3|psql|touch|ssh|dmesg|cp) [^`\n…]+)`")


def commands(page: str, text: str) -> list[Command]:
    """The shell blocks of a page and the commands in its text, in their order."""
    found = [Command(page, text.count("\n", 0, block.start()) + 2, re.sub(rf"^{block[1]}", "", block[3], flags=re.MULTILINE))
             for block in _BLOCK.finditer(text) if block[2] in ("sh", "bash")]
    prose = _BLOCK.sub(lambda block: "\n" * block[0].count("\n"), text)
    found += [Command(page, prose.count("\n", 0, inline.start()) + 1, inline[1]) for inline in _INLINE.finditer(prose)]
    return sorted(found, key=lambda command: command.line)


def pages() -> list[str]:
    """The pages in the order in which they are followed, without the one that changes to PostgreSQL."""
    folder = ROOT / "docs" / "operations"
    rest = sorted(path.name for path in folder.glob("*.md") if path.name not in (*LAST, POSTGRESQL))
    return ["docs/operations.md", "docs/alerts.md", *(f"docs/operations/{name}" for name in (*rest, *LAST))]


def of_page(page: str) -> list[Command]:
    return commands(page, (ROOT / page).read_text("utf-8"))


def joined(text: str) -> str:
    """The lines of a command, with those that end in a backslash and the next in one."""
    return re.sub(r"\\\n\s*", "", text)


def runnable(command: Command) -> str:
    """The lines of a command that run here; nothing if there are none."""
    lines = joined(command.text).splitlines()
    kept = [line for line in lines if not any(part in line for part in NOT_HERE)]
    if not any(line.strip() and not line.lstrip().startswith("#") for line in kept):
        return ""
    return "\n".join(kept)


def script(command: Command, port: int) -> str:
    """What the shell runs for a command."""
    text = runnable(command)
    for part, around in AROUND.items():
        if part in text:
            text = around.replace("{}", text.strip()).replace("{port}", str(port))
    for pattern, replacement in REPLACED:
        text = re.sub(pattern, replacement.replace("{port}", str(port)).replace("{password}", PASSWORD), text)
    return text


def unused() -> list[str]:
    """The entries of the tables that no page needs any more."""
    texts = [f"{command.page}\n{joined(command.text)}"
             for page in [*pages(), f"docs/operations/{POSTGRESQL}", GUIDE] for command in of_page(page)]
    return [part for part in (*NOT_HERE, *AROUND) if not any(part in text for text in texts)]


def prepare(system: System, port: int) -> None:
    """Installs what the commands need, trusts the authority, and makes what the pages name."""
    expect(not unused(), f"no page has {unused()}; delete the entries of script/package_check/pages.py")
    system.run("apt-get", "install", "--yes", "--no-install-recommends", *PACKAGES)
    shell(system, "the preparation", f"""
install -D -m 644 {TRUSTED} /usr/local/share/ca-certificates/authority.crt
update-ca-certificates >/dev/null
systemctl start dbus.socket
cluster=$(pg_lsclusters --no-header | awk '{{print $1, $2}}')
pg_conftool $cluster set port {free_port()}
systemctl daemon-reload
systemctl restart "postgresql@${{cluster/ /-}}"
printf '%s' '{PASSWORD}' | sudo -u counterfoil {SERVER} user create alice --password-stdin
sudo -u counterfoil {SERVER} scope create photos.read --description 'See your photos'
sudo -u counterfoil {SERVER} resource create https://api.example.com --name Photos --scope photos.read
age-keygen --output operator.key
age-keygen -y operator.key >/etc/counterfoil/operators.txt
gpg --batch --quiet --passphrase '' --quick-generate-key operator@example.com default default never
gpg --armor --export operator@example.com >/etc/counterfoil/operators.asc
printf password >restic.password
restic init --quiet
""")


def follow(system: System, names: list[str], port: int, left_out: tuple[str, ...] = ()) -> None:
    """Runs each command of some pages; the server must run after each page."""
    seen: set[str] = set()
    for page in names:
        for command in of_page(page):
            text = script(command, port)
            if not text or text in seen or any(part in f"{command.page}\n{command.text}" for part in left_out):
                continue
            shell(system, command.place, text)
            # What changes nothing need not run again.
            if "\n" not in command.text.strip():
                seen.add(text)
        until(f"after {page}, a server that runs", lambda: state(system) == "active")


def state(system: System) -> str:
    """What systemd says of the unit."""
    return system.run("systemctl", "show", "--property=ActiveState", "--value", SERVER).strip()


def follow_postgresql(system: System, port: int) -> None:
    """The page that sets the database up and moves the data, with a password file; then the other pages again."""
    shell(system, "the role", f"""
sudo -u postgres psql --command "CREATE ROLE counterfoil LOGIN PASSWORD '{NAME}'"
systemctl stop {SERVER}
mv {JOURNAL}/endings kept.endings
""")
    page = f"docs/operations/{POSTGRESQL}"
    at = f"127.0.0.1:{system.run('pg_lsclusters', '--no-header').split()[2]}"
    uri = f"postgresql://counterfoil@{at}/counterfoil?passfile={DATA}/pgpass"
    for command in of_page(page):
        text = script(command, port)
        if text:
            shell(system, command.place, text)
        if "/dev/null /var/lib/counterfoil/pgpass" in command.text:
            shell(system, "the settings", f"""
printf '*:*:counterfoil:counterfoil:{NAME}\\n' | tee {DATA}/pgpass >.pgpass
chmod 600 .pgpass
sed -i 's#^data-dir:.*#database: {uri}\\nserver-key-file: {DATA}/server.key#' {SETTINGS}
""")
    follow(system, [GUIDE, *pages()], port, left_out=NOT_OF_A_DATABASE)
    shell(system, "the end", f"rm -r {DATA}.before")


def shell(system: System, place: str, text: str) -> None:
    """Runs a script as an operator who is root, without a terminal."""
    # systemd counts the starts of the last ten seconds, and an operator does not type so fast.
    lines = f"systemctl reset-failed '{SERVER}*' 2>/dev/null || true\nmkdir -p {HOME}; cd {HOME}\n{text}\n"
    environment = ["env", f"HOME={HOME}", f"RESTIC_REPOSITORY={HOME}/restic", f"RESTIC_PASSWORD_FILE={HOME}/restic.password"]
    process = subprocess.run(
        system.command(*environment, "setsid", "--wait", "bash", "-euo", "pipefail", "-c", lines),
        stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=SECONDS,
    )
    if process.returncode != 0:
        said = "\n".join((process.stdout + process.stderr).strip().splitlines()[-15:])
        raise Failed(f"{place}: the command ended with {process.returncode}:\n{text}\nIt said:\n{said}")
