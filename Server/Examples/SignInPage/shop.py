#!/usr/bin/env python3
"""A shop with a sign-in of its own, which also signs its users in for Counterfoil (counterfoil.py).

It needs Flask and PyJWT with cryptography.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import time
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from flask import Flask, redirect, render_template_string, request, session
from jwt.algorithms import ECAlgorithm

# A real product has its users and their password hashes in its database.
USERS = {
    "ada": {"id": "customer-1", "name": "Ada Lovelace", "email": "ada@shop.example"},
    "grace": {"id": "customer-2", "name": "Grace Hopper", "email": "grace@shop.example"},
}
FORM = """<!doctype html><html lang="en"><title>Shop</title><h1>Sign in to the shop</h1>
<form method="post"><p><label>User name <input name="username" autocomplete="username" required></label>
<p><label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<p><button>Sign in</button></form>{% if wrong %}<p role="alert">Wrong user name or password.{% endif %}"""


def create_key(folder: Path) -> Path:
    """Creates the key of the page, and `keys.json` with its public half, unless the key exists; the path of the key."""
    path = folder / "key.pem"
    if not path.exists():
        key = ec.generate_private_key(ec.SECP256R1())
        text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        path.write_bytes(text)
        keys = {"keys": [ECAlgorithm.to_jwk(key.public_key(), as_dict=True)]}
        (folder / "keys.json").write_text(json.dumps(keys), "utf-8")
    return path


def create_app(password: str) -> Flask:
    """The shop, whose users all have this password."""
    from counterfoil import counterfoil

    app = Flask(__name__)
    app.secret_key = secrets.token_bytes(32)
    app.config["SESSION_COOKIE_NAME"] = "shop-session"
    app.register_blueprint(counterfoil)

    @app.route("/")
    def home():
        return {"user": session.get("user")}

    @app.route("/login", methods=["GET", "POST"])
    def login():
        user = USERS.get(request.form.get("username", ""))
        is_right = secrets.compare_digest(request.form.get("password", "").encode(), password.encode())
        if request.method == "GET" or user is None or not is_right:
            return render_template_string(FORM, wrong=request.method == "POST")
        session.update(user=user, since=int(time.time()))
        target = request.args.get("next", "/")
        # Only a path of the shop, so that the page is no open redirector.
        return redirect(target if target.startswith("/") and not target.startswith("//") else "/")

    return app


def main() -> None:
    parser = argparse.ArgumentParser(prog="shop.py", description=__doc__)
    parser.add_argument("issuer", help="the issuer of Counterfoil, such as http://127.0.0.1:8080")
    parser.add_argument("--port", type=int, default=5000)
    parser.add_argument("--folder", type=Path, default=Path("."), help="the folder of key.pem and keys.json")
    given = parser.parse_args()
    os.environ["COUNTERFOIL_ISSUER"] = given.issuer
    os.environ["SIGN_IN_PAGE"] = f"http://localhost:{given.port}/login/counterfoil"
    os.environ["SIGN_IN_KEY"] = str(create_key(given.folder))
    password = os.environ.get("SHOP_PASSWORD") or secrets.token_urlsafe(9)
    if "SHOP_PASSWORD" not in os.environ:
        print(f"The password of {' and '.join(USERS)} is {password}.", flush=True)
    create_app(password).run("localhost", given.port)


if __name__ == "__main__":
    main()
