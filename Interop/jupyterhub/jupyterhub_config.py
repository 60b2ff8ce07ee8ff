"""A JupyterHub with oauthenticator, as in its documentation for an OpenID Connect provider."""

import os

c = get_config()  # noqa: F821 - JupyterHub defines it
ISSUER = os.environ["ISSUER"]

c.JupyterHub.bind_url = os.environ["HUB_URL"]
c.JupyterHub.hub_port = int(os.environ["HUB_PORT"])
c.ConfigurableHTTPProxy.api_url = os.environ["PROXY_API_URL"]

c.JupyterHub.authenticator_class = "generic-oauth"
c.GenericOAuthenticator.oauth_callback_url = f"{os.environ['HUB_URL']}/hub/oauth_callback"
c.GenericOAuthenticator.client_id = os.environ["CLIENT_ID"]
c.GenericOAuthenticator.client_secret = os.environ["CLIENT_SECRET"]

c.GenericOAuthenticator.authorize_url = f"{ISSUER}/oauth2/authorize"
c.GenericOAuthenticator.token_url = f"{ISSUER}/oauth2/token"
c.GenericOAuthenticator.userdata_url = f"{ISSUER}/oauth2/userinfo"
c.GenericOAuthenticator.logout_redirect_url = f"{ISSUER}/oauth2/logout"

c.GenericOAuthenticator.scope = ["openid", "email"]
c.GenericOAuthenticator.username_claim = "email"
c.GenericOAuthenticator.allowed_users = {"alice@example.com"}
