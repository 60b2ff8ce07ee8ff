#!/usr/bin/env python3
"""A Django site with django-oauth-toolkit: an authorization server with OpenID Connect, and an API that it protects.

Serves on a free port of 127.0.0.1, prints its address, and runs until it is stopped:

    app.py DATABASE PASSWORD_FILE          one person, alice, and one public native application, `lightbox`
    app.py DATABASE PASSWORD_FILE NAME     behind a proxy that ends TLS: the public name of the site. Clients register
                                           themselves, and responses have no `iss`, as without a setting
"""

from __future__ import annotations

import secrets
import sys
from pathlib import Path

import django
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from django.conf import settings

LOGIN_PAGE = """<!doctype html><title>Log in</title>
<form method="post">{% csrf_token %}{{ form.as_p }}<button>Log in</button></form>"""


def signing_key() -> str:
    """A new RSA key in PEM."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()


def behind_proxy(name: str) -> dict[str, object]:
    """The settings of a site whose name and TLS are those of a proxy in front of it."""
    return {"ALLOWED_HOSTS": [name], "SECURE_PROXY_SSL_HEADER": ("HTTP_X_FORWARDED_PROTO", "https")}


def configure(database: str, name: str | None) -> None:
    """The settings of the site."""
    templates = {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [],
        "OPTIONS": {
            "loaders": [
                ("django.template.loaders.locmem.Loader", {"login.html": LOGIN_PAGE}),
                "django.template.loaders.app_directories.Loader",
            ]
        },
    }
    settings.configure(
        SECRET_KEY=secrets.token_urlsafe(32),
        **({"ALLOWED_HOSTS": ["127.0.0.1"]} if name is None else behind_proxy(name)),
        ROOT_URLCONF=__name__,
        USE_TZ=True,
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": database, "OPTIONS": {"timeout": 20}}},
        INSTALLED_APPS=[
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.sessions",
            "oauth2_provider",
        ],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
        ],
        TEMPLATES=[templates],
        LOGIN_URL="/login/",
        OAUTH2_PROVIDER={
            "OIDC_RSA_PRIVATE_KEY": signing_key(),
            "PKCE_REQUIRED": True,
            "COMPLIANT_BCP_RFC9700_PKCE_METHOD": True,
            "COMPLIANT_BCP_RFC9700_AUTHZ_RESPONSE_ISS": name is None,
            "DCR_ENABLED": name is not None,
            # An application that registers itself has no algorithm for ID tokens.
            "OIDC_ENABLED": name is None,
            "DCR_REGISTRATION_PERMISSION_CLASSES": ("oauth2_provider.dcr.AllowAllDCRPermission",),
            "SCOPES": {"openid": "Know who you are", "photos.read": "See your photos and albums"},
            "REQUEST_APPROVAL_PROMPT": "force",
        },
    )
    django.setup()


def populate(password: str) -> None:
    """The tables, one person and one application."""
    from django.contrib.auth import get_user_model
    from django.core.management import call_command
    from oauth2_provider.models import get_application_model

    call_command("migrate", verbosity=0)
    alice = get_user_model().objects.create_user("alice", "alice@example.com", password)
    get_application_model().objects.create(
        client_id="lightbox",
        name="Lightbox",
        user=alice,
        client_type="public",
        authorization_grant_type="authorization-code",
        redirect_uris="http://127.0.0.1/callback",
        algorithm="RS256",
        client_secret="",
    )


def serve() -> None:
    """Prints the address and answers requests until the process is stopped."""
    from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler
    from django.core.wsgi import get_wsgi_application

    class Quiet(WSGIRequestHandler):
        def log_message(self, format: str, *arguments: object) -> None:
            """Addresses carry codes: one line a request, without its query."""
            sys.stderr.write(f"{self.command} {self.path.split('?')[0]}\n")

    server = ThreadedWSGIServer(("127.0.0.1", 0), Quiet)
    server.daemon_threads = True
    server.set_app(get_wsgi_application())
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    # The module serves as URL configuration too, and so must exist only once.
    sys.modules["app"] = sys.modules[__name__]
    configure(sys.argv[1], sys.argv[3] if len(sys.argv) > 3 else None)

from django.contrib.auth import views  # noqa: E402 - Django reads these only after its settings
from django.http import HttpRequest, JsonResponse  # noqa: E402
from django.urls import include, path  # noqa: E402
from oauth2_provider.decorators import protected_resource  # noqa: E402
from oauth2_provider.urls import metadata_urlpatterns  # noqa: E402


@protected_resource(scopes=["photos.read"])
def photos(request: HttpRequest) -> JsonResponse:
    """The photos of the person whose token came along."""
    return JsonResponse({"owner": request.resource_owner.get_username(), "photos": ["Fjord", "Harbour"]})


urlpatterns = [
    path("", include((metadata_urlpatterns, "metadata"))),
    path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
    path("login/", views.LoginView.as_view(template_name="login.html")),
    path("photos", photos),
]

if __name__ == "__main__":
    populate(Path(sys.argv[2]).read_text("utf-8").strip())
    serve()
