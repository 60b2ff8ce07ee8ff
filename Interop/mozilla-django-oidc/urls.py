"""The pages of the Django site: its home page, and the views of mozilla-django-oidc."""

from __future__ import annotations

import urllib.parse

from django.conf import settings
from django.http import HttpRequest
from django.urls import include, path
from django.views.generic import TemplateView

urlpatterns = [
    path("", TemplateView.as_view(template_name="home.html")),
    path("oidc/", include("mozilla_django_oidc.urls")),
]


def provider_logout(request: HttpRequest) -> str:
    """The URL that ends the session at the provider and redirects back to the site."""
    parameters = {
        "id_token_hint": request.session["oidc_id_token"],
        "post_logout_redirect_uri": request.build_absolute_uri("/"),
    }
    return f"{settings.ISSUER}/oauth2/logout?{urllib.parse.urlencode(parameters)}"
