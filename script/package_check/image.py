"""The container image, unpacked from its layout and run in a root folder that is read-only, by a user without rights."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import time
from pathlib import Path
from typing import Any

from .system import Failed, expect, quietly

#: Programs that an image without a shell does not have.
SHELLS = ("sh", "bash", "dash", "busybox", "perl", "python3", "apt", "dpkg")


def check(layout: Path, folder: Path) -> None:
    """The image starts from its layout, and its own health check succeeds."""
    tag = json.loads((layout / "index.json").read_text("utf-8"))["manifests"][0]["annotations"][
        "org.opencontainers.image.ref.name"]
    quietly("umoci", "unpack", "--image", f"{layout}:{tag}", str(folder))
    bundle = json.loads((folder / "config.json").read_text("utf-8"))
    root = folder / "rootfs"
    process = bundle["process"]
    user = (process["user"]["uid"], process["user"]["gid"])
    expect(0 not in user, f"the image runs as {user}")
    settings = image_settings(layout)
    expect(settings["Healthcheck"]["Test"][:2] == ["CMD", "/usr/bin/counterfoil-server"], "the health check needs a shell")
    look_through(root)
    run(root, user, settings)


def image_settings(layout: Path) -> dict[str, Any]:
    """The settings of the image."""
    def read(digest: str) -> dict[str, Any]:
        return dict(json.loads((layout / "blobs" / digest.replace(":", "/")).read_text("utf-8")))

    index = json.loads((layout / "index.json").read_text("utf-8"))
    manifest = read(index["manifests"][0]["digest"])
    return dict(read(manifest["config"]["digest"])["config"])


def look_through(root: Path) -> None:
    """There is no shell, no file with the setuid bit, and one folder for each of data and temporary files."""
    for path in root.rglob("*"):
        if path.is_symlink():
            continue
        mode = path.stat().st_mode
        name = path.relative_to(root).as_posix()
        expect(not (path.is_file() and path.name in SHELLS), f"the image contains {name}")
        expect(not mode & (stat.S_ISUID | stat.S_ISGID), f"{name} has the setuid or setgid bit")
        expect(not mode & stat.S_IWOTH or name == "tmp", f"every user can write {name}")


def run(root: Path, user: tuple[int, int], settings: dict[str, Any]) -> None:
    """Runs the command of the image with a read-only root. Only the data and the temporary files can be written."""
    # The network is the container's own, too, so no other program can have the port.
    address = "127.0.0.1:8080"
    data, configured, log = (root.parent / name for name in ("data", "settings", "image.log"))
    data.mkdir()
    os.chown(data, *user)
    configured.mkdir()
    (configured / "server.yaml").write_text(f"issuer: http://{address}\nlisten: {address}\n", "utf-8")
    enter = ["chroot", f"--userspec={user[0]}:{user[1]}", str(root)]
    # The mount table is the container's own, as the runtime of containers makes it.
    steps = [
        "ip link set lo up",
        f"mount --bind {root} {root}",
        f"mount --options remount,bind,ro {root}",
        f"mount --bind {data} {root}/var/lib/counterfoil",
        f"mount --bind --read-only {configured} {root}/etc/counterfoil",
        f"mount --types tmpfs --options mode=1777 tmpfs {root}/tmp",
        # A program in Swift reads its arguments there.
        f"mount --types proc proc {root}/proc",
        f'exec {" ".join(enter)} "$@"',
    ]
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["unshare", "--mount", "--net", "sh", "-c", " && ".join(steps), "sh", *settings["Entrypoint"], *settings["Cmd"]],
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"} | dict(each.split("=", 1) for each in settings["Env"]),
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
        )
    try:
        inside = ["nsenter", f"--target={process.pid}", "--mount", "--net", *enter]
        probe = [*inside, *settings["Healthcheck"]["Test"][1:3], f"http://{address}/livez"]
        deadline = time.monotonic() + 60
        # Until the process has a network of its own, the probe can reach another program.
        while (subprocess.run(probe, stdin=subprocess.DEVNULL, capture_output=True).returncode != 0
               or not (data / "counterfoil.db").exists()):
            if process.poll() is not None or time.monotonic() > deadline:
                raise Failed(f"the image does not answer, or its data are not in the volume:\n{said(log)}")
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        expect(process.returncode == 0, f"the image ended with {process.returncode}:\n{said(log)}")
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)


def said(log: Path) -> str:
    """The end of a log."""
    return "\n".join(log.read_text("utf-8", "replace").splitlines()[-20:])
