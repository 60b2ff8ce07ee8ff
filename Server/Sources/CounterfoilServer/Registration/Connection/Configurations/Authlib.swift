import CounterfoilProtocol
import CounterfoilStore

// Parameters: https://docs.authlib.org/en/latest/oauth2/client/web/ (Flask, PKCE, UserInfo).
extension ConfigurationRecipe {
    static let authlib = ConfigurationRecipe("authlib", "Authlib with Flask", file: "app.py", for: [.web]) {
        connection -> ConfigurationText<PythonCode>? in
        guard connection.keys == nil, connection.usesOpenID,
            let redirectURI = connection.redirectURI(preferring: { _ in true })
        else { return nil }
        return """
            import os

            from authlib.integrations.flask_client import OAuth
            from flask import Flask, redirect, session

            app = Flask(__name__)
            app.secret_key = os.environ["SESSION_SECRET"]

            oauth = OAuth(app)
            oauth.register(
                name="counterfoil",
                server_metadata_url=\(connection.openIDConfiguration),
                client_id=\(connection.clientID.rawValue),
                client_secret=os.environ["CLIENT_SECRET"],
                client_kwargs={
                    "scope": \(connection.scope.description),
                    "code_challenge_method": "S256",
                    "token_endpoint_auth_method": "client_secret_basic",
                },
            )


            @app.route("/sign-in")
            def sign_in():
                return oauth.counterfoil.authorize_redirect(\(redirectURI.rawValue))


            @app.route(\(redirectURI.route))
            def callback():
                token = oauth.counterfoil.authorize_access_token()
                session["user"] = oauth.counterfoil.userinfo(token=token)
                return redirect("/")

            """
    }
}
