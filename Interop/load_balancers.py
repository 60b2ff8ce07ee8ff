"""Load balancers of other projects, in front of two or more servers on this machine."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from local_servers import Failed, tail

# HAProxy asks each server five times a second whether it is ready. A server that stops gets no new connection after two
# failures, which the servers wait for with --drain-delay.
HAPROXY = """
global
    maxconn 1000
defaults
    mode http
    timeout connect 2s
    timeout client 60s
    timeout server 60s
    option httpchk GET /readyz
    option forwardfor
    default-server check inter 200ms fall 2 rise 2
frontend front
    bind 127.0.0.1:{front}
    default_backend servers
backend servers
    # A POST is repeated only if no server has seen it.
    retry-on conn-failure
    option redispatch
{servers}
"""

# nginx has no health checks of its own: it tries the next server after one that accepts no connection.
NGINX = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/nginx-error.log;
events {{ worker_connections 512; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    upstream servers {{
{servers}
    }}
    server {{
        listen 127.0.0.1:{front};
        location / {{
            proxy_pass http://servers;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host $host;
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
            proxy_set_header Forwarded "";
            proxy_next_upstream error timeout;
        }}
    }}
}}
"""


@contextmanager
def proxy(kind: str, front: int, ports: list[int], folder: Path) -> Iterator[None]:
    """HAProxy or nginx, which listens on one port and forwards to the others, for as long as the block runs."""
    folder.mkdir()
    configuration = folder / f"{kind}.conf"
    if kind == "haproxy":
        servers = "\n".join(f"    server s{port} 127.0.0.1:{port}" for port in ports)
        command = ["haproxy", "-db", "-f", str(configuration)]
        text = HAPROXY
    else:
        # A server that accepts nothing is tried again after a second.
        servers = "\n".join(f"        server 127.0.0.1:{port} max_fails=1 fail_timeout=1s;" for port in ports)
        command = ["nginx", "-p", str(folder), "-e", str(folder / "nginx-error.log"), "-c", str(configuration)]
        text = NGINX
    configuration.write_text(text.format(front=front, servers=servers, folder=folder))
    program = shutil.which(command[0], path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
    if program is None:
        raise Failed(f"{kind} is not installed; run script/bootstrap interop")
    log = folder / f"{kind}.log"
    with log.open("wb") as output:
        process = subprocess.Popen([program, *command[1:]], stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, start_new_session=True)
    try:
        yield
        if process.poll() is not None:
            raise Failed(f"{kind} ended:\n{tail(log)}")
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
