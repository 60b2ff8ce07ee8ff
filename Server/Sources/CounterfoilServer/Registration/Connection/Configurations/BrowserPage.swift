import CounterfoilProtocol
import CounterfoilStore

extension ConfigurationRecipe {
    static let browserPage = ConfigurationRecipe(
        "fetch", "A page without a library (fetch)", file: "index.html", for: [.singlePage], namesAPIs: true
    ) { connection -> ConfigurationText<JavaScript>? in
        guard connection.usesOpenID, let redirectURI = connection.redirectURI(preferring: { _ in true }),
            let authorization = connection.url(of: .authorization), let token = connection.url(of: .token),
            let userInfo = connection.url(of: .userInfo)
        else { return nil }
        let resources = connection.requestedResources.map { resource -> ConfigurationText<JavaScript> in
            "\n  request.append(\"resource\", \(resource));"
        }
        return """
            <!DOCTYPE html>
            <meta charset="utf-8">
            <title>Sign in</title>
            <!-- Serve this page at the redirect URI of the app. -->
            <button id="sign-in">Sign in</button>
            <pre id="user"></pre>
            <script type="module">
            const issuer = \(connection.issuer.rawValue);
            const authorizationEndpoint = \(authorization);
            const tokenEndpoint = \(token);
            const userInfoEndpoint = \(userInfo);
            const clientID = \(connection.clientID.rawValue);
            const redirectURI = \(redirectURI.rawValue);
            const scope = \(connection.scope.description);

            const base64url = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)))
              .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
            const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)));

            async function signIn() {
              const attempt = { state: random(), verifier: random() };
              sessionStorage.setItem("attempt", JSON.stringify(attempt));
              const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(attempt.verifier));
              const request = new URLSearchParams({
                response_type: "code", client_id: clientID, redirect_uri: redirectURI, scope, state: attempt.state,
                code_challenge: base64url(digest), code_challenge_method: "S256",
              });\(ConfigurationText(stringLiteral: resources.map(\.text).joined()))
              location.assign(authorizationEndpoint + "?" + request);
            }

            async function finish(response) {
              const attempt = JSON.parse(sessionStorage.getItem("attempt"));
              sessionStorage.removeItem("attempt");
              history.replaceState(null, "", location.pathname);
              if (response.get("state") !== attempt?.state || response.get("iss") !== issuer) {
                throw new Error("the response belongs to another sign-in");
              }
              if (response.has("error")) throw new Error(response.get("error_description") ?? response.get("error"));
              const answer = await fetch(tokenEndpoint, {
                method: "POST",
                body: new URLSearchParams({
                  grant_type: "authorization_code", client_id: clientID, redirect_uri: redirectURI,
                  code: response.get("code"), code_verifier: attempt.verifier,
                }),
              });
              const tokens = await answer.json();
              if (!answer.ok) throw new Error(tokens.error_description ?? tokens.error);
              return tokens;
            }

            document.querySelector("#sign-in").addEventListener("click", signIn);
            const response = new URLSearchParams(location.search);
            if (response.has("state")) {
              const shown = document.querySelector("#user");
              try {
                const { access_token } = await finish(response);
                const user = await fetch(userInfoEndpoint, { headers: { Authorization: `Bearer ${access_token}` } });
                shown.textContent = JSON.stringify(await user.json(), null, 2);
              } catch (error) {
                shown.textContent = error.message;
              }
            }
            </script>

            """
    }
}
