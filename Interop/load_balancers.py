"""Load balancers of other projects, in front of two or more servers on this machine."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from local_servers import ROOT, Failed, stop, tail

PACKAGING = ROOT / "Server" / "Packaging"

# What the configuration in Server/Packaging/proxies says for two servers.
HAPROXY = PACKAGING / "proxies" / "haproxy-two-servers.cfg"

# nginx has no health checks of its own: it tries the next server after one that accepts no connection. A program beside
# it takes out those that are not ready.
NGINX = PACKAGING / "proxies" / "nginx.conf"
KUBERNETES = PACKAGING / "kubernetes" / "counterfoil.yaml"
NGINX_READINESS = PACKAGING / "proxies" / "nginx-readiness"

# What HAProxy calls the conditions under which ingress-nginx sends a request to another pod.
RETRIES = {"error": "conn-failure empty-response", "timeout": "response-timeout", "http_502": "502", "http_503": "503"}


def with_these(example: Path, values: dict[str, str]) -> str:
    """A configuration of Server/Packaging/proxies with other values; it must contain everything that is replaced."""
    text = example.read_text("utf-8")
    for given, value in values.items():
        if given not in text:
            raise Failed(f"{example} does not contain “{given}”")
        text = text.replace(given, value)
    return text


def haproxy(front: int, ports: list[int], folder: Path, interval: float) -> list[str]:
    """Writes the configuration for two servers, without TLS and for any number of servers; the command."""
    text = with_these(HAPROXY, {
        "bind :443 ssl crt /etc/haproxy/id.example.com.pem alpn h2,http/1.1": f"bind 127.0.0.1:{front}",
        "check inter 1s": f"check inter {interval * 1000:.0f}ms"})
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith("    server counterfoil-1 "):
            lines += [f"    server counterfoil-{number} 127.0.0.1:{port}" for number, port in enumerate(ports, 1)]
        elif not line.startswith("    server "):
            lines.append(line)
    configuration = folder / "haproxy.cfg"
    configuration.write_text("\n".join(lines) + "\n")
    return ["haproxy", "-db", "-f", str(configuration)]


def kubernetes(front: int, ports: list[int], folder: Path) -> list[str]:
    """HAProxy as Kubernetes with our manifest: the readiness probe, the two Services, and the paths and retries of the
    Ingress, which sends no POST request again."""
    import yaml  # A module that only this one needs.

    documents = list(yaml.safe_load_all(KUBERNETES.read_text("utf-8")))
    [pod] = [each["spec"]["template"]["spec"] for each in documents if each["kind"] == "Deployment"]
    probe = pod["containers"][0]["readinessProbe"]
    services = {each["metadata"]["name"]: each["spec"] for each in documents if each["kind"] == "Service"}
    [ingress] = [each for each in documents if each["kind"] == "Ingress"]
    paths = ingress["spec"]["rules"][0]["http"]["paths"]
    conditions = ingress["metadata"]["annotations"]["nginx.ingress.kubernetes.io/proxy-next-upstream"].split()
    lines = ["defaults", "    mode http", "    timeout connect 5s", "    timeout client 60s", "    timeout server 60s",
             f"    timeout check {probe['timeoutSeconds']}s", "    retries 2", "    option redispatch 1",
             f"    retry-on {' '.join(RETRIES[each] for each in conditions)}",
             "frontend ingress", f"    bind 127.0.0.1:{front}", "    option forwardfor",
             "    http-request disable-l7-retry if METH_POST"]
    for each in paths:
        match = "path" if each["pathType"] == "Exact" else "path_beg"
        lines.append(f"    use_backend {each['backend']['service']['name']} if {{ {match} {each['path']} }}")
    for name, service in services.items():
        lines += [f"backend {name}", f"    option httpchk GET {probe['httpGet']['path']}"]
        check = "" if service.get("publishNotReadyAddresses") else (
            f" check inter {probe['periodSeconds']}s fall {probe['failureThreshold']} rise {probe['successThreshold']}")
        lines += [f"    server pod-{port} 127.0.0.1:{port}{check}" for port in ports]
    configuration = folder / "kubernetes.cfg"
    configuration.write_text("\n".join(lines) + "\n")
    return ["haproxy", "-db", "-f", str(configuration)]


def nginx(front: int, ports: list[int], folder: Path) -> list[str]:
    """Writes the configuration for one server, without TLS and with an upstream of several; the command."""
    servers = folder / "servers.conf"
    servers.write_text("".join(f"server 127.0.0.1:{port} max_fails=1 fail_timeout=1s;\n" for port in ports))
    text = with_these(NGINX, {
        "listen 443 ssl http2;": f"listen 127.0.0.1:{front};", "server 127.0.0.1:8080 max_fails=0;": f"include {servers};"})
    site = folder / "site.conf"
    site.write_text("\n".join(line for line in text.splitlines() if not line.startswith("    ssl_")))
    paths = "".join(f"{name}_temp_path {folder / name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    configuration = folder / "nginx.conf"
    configuration.write_text(
        f"{'user root;' if os.geteuid() == 0 else ''}\ndaemon off;\nworker_processes 2;\npid {folder}/nginx.pid;\n"
        f"error_log {folder}/nginx-error.log;\nevents {{ worker_connections 512; }}\n"
        f"http {{\naccess_log off;\n{paths}include {site};\n}}\n")
    return ["nginx", "-p", str(folder), "-e", str(folder / "nginx-error.log"), "-c", str(configuration)]


@contextmanager
def proxy(kind: str, front: int, ports: list[int], folder: Path, interval: float = 1) -> Iterator[None]:
    """A load balancer, which listens on one port and forwards to the others, for as long as the block runs.

    Each has the configuration of Server/Packaging/proxies. HAProxy asks the servers after so many seconds. nginx asks
    them each second, or, with another interval, not at all.
    """
    folder.mkdir()
    command = {"haproxy": lambda: haproxy(front, ports, folder, interval), "nginx": lambda: nginx(front, ports, folder),
               "kubernetes": lambda: kubernetes(front, ports, folder)}[kind]()
    program = shutil.which(command[0], path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
    if program is None:
        raise Failed(f"{kind} is not installed; run script/bootstrap interop")
    command[0] = program
    with ExitStack() as held:
        held.enter_context(kept(command, folder / f"{kind}.log"))
        if kind == "nginx" and interval == 1:
            # The program calls nginx, which here has other files.
            wrapper = folder / "bin" / "nginx"
            wrapper.parent.mkdir()
            wrapper.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
            wrapper.chmod(0o755)
            watch = [str(NGINX_READINESS), str(folder / "servers.conf"), *(f"127.0.0.1:{port}" for port in ports)]
            held.enter_context(kept(watch, folder / "readiness.log", {"PATH": f"{wrapper.parent}:{os.environ['PATH']}"}))
        yield


@contextmanager
def kept(command: list[str], log: Path, environment: dict[str, str] | None = None) -> Iterator[None]:
    """A program that must not end before the block does."""
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                   env={**os.environ, **(environment or {})}, start_new_session=True)
    try:
        yield
        if process.poll() is not None:
            raise Failed(f"{command[0]} ended:\n{tail(log)}")
    finally:
        stop(process)
