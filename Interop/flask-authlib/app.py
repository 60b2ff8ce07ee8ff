"""A Flask app with sign-in by Authlib, as in the documentation of Authlib's Flask client.

Flask reads its configuration from environment variables that start with FLASK_.
"""

from __future__ import annotations

from authlib.integrations.flask_client import OAuth, OAuthError
from flask import Flask, Response, jsonify, redirect, session, url_for

app = Flask(__name__)
app.config.from_prefixed_env()
oauth = OAuth(app)
oauth.register(
    name="counterfoil",
    server_metadata_url=app.config["METADATA_URL"],
    client_kwargs={"scope": "openid email profile"},
)


@app.route("/")
def home() -> Response:
    return jsonify(session.get("user"))


@app.route("/login")
def login() -> Response:
    return oauth.counterfoil.authorize_redirect(url_for("auth", _external=True))


@app.route("/auth")
def auth() -> Response:
    token = oauth.counterfoil.authorize_access_token()
    session["user"] = token["userinfo"]
    return redirect("/")


@app.route("/logout")
def logout() -> Response:
    session.pop("user", None)
    return redirect("/")


@app.errorhandler(OAuthError)
def refused(error: OAuthError) -> tuple[str, int, dict[str, str]]:
    return f"{error.error}: {error.description}", 400, {"Content-Type": "text/plain"}
