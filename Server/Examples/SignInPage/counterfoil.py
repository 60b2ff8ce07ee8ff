"""The page of a product that signs its users in for Counterfoil."""

import os
import time

import jwt
from flask import Blueprint, abort, redirect, request, session, url_for

ISSUER = os.environ["COUNTERFOIL_ISSUER"]  # https://id.example.com
PAGE = os.environ["SIGN_IN_PAGE"]  # https://shop.example.com/login/counterfoil
KEY = open(os.environ["SIGN_IN_KEY"], encoding="utf-8").read()
KEYS = jwt.PyJWKClient(f"{ISSUER}/oauth2/jwks")
counterfoil = Blueprint("counterfoil", __name__)


@counterfoil.get("/login/counterfoil")
def sign_in():
    text = request.args.get("request", "")
    try:
        key = KEYS.get_signing_key_from_jwt(text).key
        asked = jwt.decode(text, key, algorithms=["ES256"], issuer=ISSUER, audience=PAGE)
    except jwt.PyJWTError:
        abort(400)
    if jwt.get_unverified_header(text).get("typ") != "sign-in-request+jwt":
        abort(400)
    now = int(time.time())
    earliest = asked["iat"] - (0 if "login" in asked.get("prompt", "") else asked.get("max_age", now))
    user = session.get("user")
    if user is None or session["since"] < earliest:
        return redirect(url_for("login", next=request.full_path))
    answer = {"iss": "/".join(PAGE.split("/")[:3]), "aud": ISSUER, "iat": now, "exp": now + 60, "nonce": asked["jti"]}
    answer |= {"sub": user["id"], "auth_time": session["since"], "amr": ["pwd"]}
    answer |= {"name": user["name"], "email": user["email"], "email_verified": True}
    response = jwt.encode(answer, KEY, algorithm="ES256", headers={"typ": "sign-in-response+jwt"})
    return redirect(f"{asked['response_uri']}?response={response}")
