import CounterfoilProtocol
import CounterfoilStore

// Parameters: https://docs.authlib.org/en/latest/oauth2/client/http/ (OAuth2Session, PKCE).
extension ConfigurationRecipe {
    static let authlibNative = ConfigurationRecipe(
        "authlib", "Authlib (Python)", file: "sign_in.py", for: [.native], namesAPIs: true
    ) { connection -> ConfigurationText<PythonCode>? in
        guard let receiver = connection.loopbackRedirectURI?.loopbackReceiver,
            let authorization = connection.url(of: .authorization), let token = connection.url(of: .token)
        else { return nil }
        let family: ConfigurationText<PythonCode> = receiver.isIPv6 ? "socket.AF_INET6" : "socket.AF_INET"
        let resources: ConfigurationText<PythonCode> =
            connection.requestedResources.isEmpty
            ? ""
            : """
            # authlib sends a parameter once, so the query of the endpoint names the APIs.
            endpoint += "?" + urllib.parse.urlencode([("resource", api) for api in (\(connection.requestedResources),)])

            """
        return """
            import http.server
            import secrets
            import socket
            import urllib.parse
            import webbrowser

            from authlib.integrations.requests_client import OAuth2Session


            class Receiver(http.server.HTTPServer):
                address_family = \(family)
                response = None


            class Handler(http.server.BaseHTTPRequestHandler):
                def do_GET(self):
                    if urllib.parse.urlsplit(self.path).path == \(receiver.path):
                        self.server.response = self.path
                    self.send_response(200 if self.server.response else 404)
                    self.end_headers()
                    self.wfile.write(b"You can close this tab.")

                def log_message(self, *arguments):
                    pass  # The path contains the authorization code.


            receiver = Receiver((\(receiver.address), \(receiver.port)), Handler)
            redirect_uri = \(receiver.origin) + f":{receiver.server_port}" + \(receiver.target)
            session = OAuth2Session(
                \(connection.clientID.rawValue),
                scope=\(connection.scope.description),
                redirect_uri=redirect_uri,
                code_challenge_method="S256",
                token_endpoint_auth_method="none",
            )
            verifier = secrets.token_urlsafe(48)
            endpoint = \(authorization)
            \(resources)url, state = session.create_authorization_url(endpoint, code_verifier=verifier)
            webbrowser.open(url)
            print("Sign in at", url)
            while receiver.response is None:
                receiver.handle_request()
            receiver.server_close()

            answer = urllib.parse.parse_qs(urllib.parse.urlsplit(receiver.response).query)
            if answer.get("iss") != [\(connection.issuer.rawValue)]:
                raise SystemExit("the response is not from the server")
            token = session.fetch_token(
                \(token), authorization_response=receiver.response, state=state, code_verifier=verifier
            )
            print("Signed in; the access token expires in", token["expires_in"], "seconds")

            """
    }
}
