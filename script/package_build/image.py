"""A container image in the OCI layout, written without a daemon and without a base image.

The root contains the program, the shared libraries that it loads, and what these read: certificates of authorities,
time zones and the user. The settings of the image are those of Server/Packaging/image/Containerfile.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import shutil
import time as clock
from pathlib import Path
from typing import Any

from . import archive, dependencies
from .source import Failed, Source
from .stage import OPENED, SERVER

#: The user and the group of the server.
USER = 10001
DATA = "var/lib/counterfoil"
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
UNITS = {"s": 1, "m": 60}


def root(stage: Path, folder: Path) -> None:
    """Fills a folder with the root of the image."""
    shutil.rmtree(folder, ignore_errors=True)
    program = folder / "usr/bin" / SERVER
    program.parent.mkdir(parents=True)
    shutil.copyfile(stage / "usr/bin" / SERVER, program)
    program.chmod(0o755)
    documents = stage / "usr/share/doc" / SERVER
    for name in ("LICENSES.txt", "components.cdx.json", "copyright"):
        copy(documents / name, folder / "usr/share/doc" / SERVER / name)
    for library in dependencies.system_libraries(stage / "usr/bin" / SERVER, OPENED[SERVER]):
        # The loader is looked for at the path that is in the program; the libraries in the usual folders.
        copy(library.path.resolve(), folder / library.path.relative_to("/"), executable=library.soname.startswith("ld-"))
        if library.copyright.exists():
            copy(library.copyright.resolve(), folder / library.copyright.relative_to("/"))
        # Scanners for vulnerabilities look here for the packages of an image without dpkg.
        put(
            f"Package: {library.package}\nStatus: install ok installed\nArchitecture: {library.architecture}\n"
            f"Version: {library.version}\nMaintainer: Debian\nDescription: shared library\n",
            folder / "var/lib/dpkg/status.d" / library.package,
        )
    copy(Path("/etc/ssl/certs/ca-certificates.crt"), folder / "etc/ssl/certs/ca-certificates.crt")
    copy(Path("/etc/os-release").resolve(), folder / "etc/os-release")
    zones = Path("/usr/share/zoneinfo")
    if not zones.is_dir():
        raise Failed("there are no time zones on this machine; install tzdata")
    shutil.copytree(zones, folder / "usr/share/zoneinfo", symlinks=True, ignore=shutil.ignore_patterns("right", "posix"))
    put(
        "root:x:0:0:root:/nonexistent:/nonexistent\n"
        f"counterfoil:x:{USER}:{USER}:Counterfoil:/{DATA}:/nonexistent\n",
        folder / "etc/passwd",
    )
    put(f"root:x:0:\ncounterfoil:x:{USER}:\n", folder / "etc/group")
    put("passwd: files\ngroup: files\nhosts: files dns\n", folder / "etc/nsswitch.conf")
    archive.normalize(folder)
    for name, mode in ((DATA, 0o700), ("tmp", 0o1777), ("etc/counterfoil", 0o755), ("run", 0o755),
                       ("proc", 0o555), ("sys", 0o555), ("dev", 0o755)):
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name).chmod(mode)


def layout(files: Path, containerfile: Path, source: Source, machine: str, folder: Path, tag: str, level: int = 9) -> None:
    """Writes an OCI layout with one image of one layer."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "blobs/sha256").mkdir(parents=True)
    created = clock.strftime("%Y-%m-%dT%H:%M:%SZ", clock.gmtime(source.time))
    layer = archive.tar(files, source.time, owners={DATA: USER})
    packed = blob(folder, archive.compressed(layer, level), "application/vnd.oci.image.layer.v1.tar+gzip")
    settings = settings_of(containerfile.read_text("utf-8"))
    settings["Labels"] |= {
        "org.opencontainers.image.version": source.version, "org.opencontainers.image.revision": source.commit,
    }
    configuration = blob(
        folder,
        encoded(
            {
                "architecture": ARCHITECTURES.get(machine, machine), "os": "linux", "created": created,
                "config": settings,
                "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
                "history": [{"created": created, "created_by": "script/package --image"}],
            }
        ),
        "application/vnd.oci.image.config.v1+json",
    )
    manifest = blob(
        folder,
        encoded(
            {
                "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                "config": configuration, "layers": [packed],
                "annotations": {"org.opencontainers.image.created": created},
            }
        ),
        "application/vnd.oci.image.manifest.v1+json",
    )
    manifest["annotations"] = {"org.opencontainers.image.ref.name": tag}
    manifest["platform"] = {"architecture": ARCHITECTURES.get(machine, machine), "os": "linux"}
    index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [manifest]}
    (folder / "index.json").write_bytes(encoded(index))
    (folder / "oci-layout").write_bytes(encoded({"imageLayoutVersion": "1.0.0"}))


def settings_of(containerfile: str) -> dict[str, Any]:
    """The settings of an image by the instructions of a Containerfile that copies files and sets nothing else."""
    settings: dict[str, Any] = {"Env": [], "Labels": {}, "ExposedPorts": {}, "Volumes": {}}
    for line in containerfile.splitlines():
        instruction, _, rest = line.strip().partition(" ")
        match instruction:
            case "" | "FROM" | "COPY":
                pass
            case "ENV":
                settings["Env"].append("".join(shlex.split(rest)))
            case "LABEL":
                key, _, value = "".join(shlex.split(rest, posix=True)).partition("=")
                # shlex joins nothing inside quotes, so the value has its spaces.
                settings["Labels"][key] = value
            case "EXPOSE":
                settings["ExposedPorts"][f"{rest.strip()}/tcp"] = {}
            case "VOLUME":
                settings["Volumes"] |= {path: {} for path in json.loads(rest)}
            case "USER":
                settings["User"] = rest.strip()
            case "STOPSIGNAL":
                settings["StopSignal"] = rest.strip()
            case "ENTRYPOINT":
                settings["Entrypoint"] = json.loads(rest)
            case "CMD":
                settings["Cmd"] = json.loads(rest)
            case "HEALTHCHECK":
                settings["Healthcheck"] = health_check(rest)
            case _ if instruction.startswith("#"):
                pass
            case _:
                raise Failed(f"the Containerfile has an instruction that script/package does not know: {instruction}")
    return settings


def health_check(words: str) -> dict[str, Any]:
    """The health check as Docker stores it: a command, and times in nanoseconds."""
    options, _, command = words.partition(" CMD ")
    check: dict[str, Any] = {"Test": ["CMD", *json.loads(command)]}
    for name, value in re.findall(r"--([a-z-]+)=(\S+)", options):
        if name == "retries":
            check["Retries"] = int(value)
        else:
            key = {"interval": "Interval", "timeout": "Timeout", "start-period": "StartPeriod"}[name]
            check[key] = int(value[:-1]) * UNITS[value[-1]] * 1_000_000_000
    return check


def blob(folder: Path, content: bytes, media_type: str) -> dict[str, Any]:
    """Stores content under its digest, and returns its descriptor."""
    digest = hashlib.sha256(content).hexdigest()
    (folder / "blobs/sha256" / digest).write_bytes(content)
    return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(content)}


def encoded(value: Any) -> bytes:
    """JSON in one form only."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode() + b"\n"


def copy(file: Path, target: Path, executable: bool = False) -> None:
    """Copies the content of a file."""
    if not file.exists():
        raise Failed(f"{file} is missing on this machine")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, target)
    target.chmod(0o755 if executable else 0o644)


def put(text: str, target: Path) -> None:
    """Writes a file."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, "utf-8")
