"""Archives that depend on nothing but the files in them: sorted, owned by root, with one time, and without a name."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import tarfile
from pathlib import Path


def tar(folder: Path, time: int, prefix: str = "", owners: dict[str, int] | None = None) -> bytes:
    """The files of a folder as a tar archive.

    `owners` names the paths that belong to another user and group than root, with the number of both.
    """
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(folder.rglob("*"), key=lambda path: path.relative_to(folder).parts):
            name = path.relative_to(folder).as_posix()
            entry = archive.gettarinfo(path, f"{prefix}{name}")
            # Two names of one file would be a link in one archive and a copy in another.
            if entry.islnk():
                entry.type, entry.size, entry.linkname = tarfile.REGTYPE, path.stat().st_size, ""
            entry.uid = entry.gid = (owners or {}).get(name, 0)
            entry.uname = entry.gname = ""
            entry.mtime = time
            entry.pax_headers = {}
            if entry.isfile():
                with path.open("rb") as content:
                    archive.addfile(entry, content)
            else:
                archive.addfile(entry)
    return output.getvalue()


def compressed(content: bytes, level: int = 9) -> bytes:
    """Compresses as `gzip -n` does: without a name and a time."""
    output = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=level, fileobj=output, mtime=0) as stream:
        stream.write(content)
    return output.getvalue()


def checksums(folder: Path) -> str:
    """The content of SHA256SUMS: every file in the folder, in order of name."""
    lines = []
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.name != "SHA256SUMS":
            lines.append(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n")
    return "".join(lines)


def normalize(folder: Path) -> None:
    """Gives files and folders the usual modes, whatever the umask of the build was."""
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            executable = path.is_dir() or os.access(path, os.X_OK) and path.stat().st_mode & 0o100
            path.chmod(0o755 if executable else 0o644)
