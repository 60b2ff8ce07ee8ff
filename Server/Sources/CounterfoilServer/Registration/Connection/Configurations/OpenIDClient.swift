import CounterfoilProtocol
import CounterfoilStore
import CounterfoilTokens

// Functions: https://github.com/panva/openid-client (version 6).
extension ConfigurationRecipe {
    static let openIDClient = ConfigurationRecipe(
        "openid-client", "openid-client 6 (Node)", file: "oidc.mjs", for: [.web]
    ) { connection -> ConfigurationText<JavaScript>? in
        guard let redirectURI = connection.redirectURI(preferring: { _ in true }) else { return nil }
        let openID: ConfigurationText<JavaScript>? =
            connection.usesOpenID ? "    idTokenExpected: true," : nil
        return ConfigurationText(lines: [
            connection.discovery,
            """

            // Redirect the browser to the returned URL. `session` is the session of the user in your application.
            export async function start(session) {
              session.codeVerifier = client.randomPKCECodeVerifier();
              session.state = client.randomState();
              return client.buildAuthorizationUrl(config, {
                redirect_uri: \(redirectURI.rawValue),
                scope: \(connection.scope.description),
                code_challenge: await client.calculatePKCECodeChallenge(session.codeVerifier),
                code_challenge_method: "S256",
                state: session.state,
              });
            }

            // Call this at the redirect URI, with the URL of the request.
            export async function finish(session, url) {
              return client.authorizationCodeGrant(config, url, {
                pkceCodeVerifier: session.codeVerifier,
                expectedState: session.state,
            """,
            openID,
            """
              });
            }

            """,
        ])
    }

    static let openIDClientService = ConfigurationRecipe(
        "openid-client", "openid-client 6 (Node)", file: "oidc.mjs", for: [.service]
    ) { connection -> ConfigurationText<JavaScript>? in
        ConfigurationText(lines: [
            connection.discovery,
            """

            export async function token() {
              return client.clientCredentialsGrant(config, {
            """,
            connection.scope.isEmpty ? nil : "    scope: \(connection.scope.description),",
            """
              });
            }

            """,
        ])
    }
}

extension ClientConnection {
    /// The lines that read the metadata of this server and name the method of client authentication.
    fileprivate var discovery: ConfigurationText<JavaScript> {
        let authentication: ConfigurationText<JavaScript>
        var imports: ConfigurationText<JavaScript> = #"import * as client from "openid-client";"#
        var key: ConfigurationText<JavaScript>?
        if let registered = keys?.keys.first {
            imports = """
                import { importPKCS8 } from "jose";
                import * as client from "openid-client";
                """
            key = """

                // The private key in PEM form.
                const key = await importPKCS8(process.env.CLIENT_KEY, \(registered.algorithm.rawValue));
                """
            authentication = "client.PrivateKeyJwt({ key, kid: \(registered.id.rawValue) })"
        } else {
            authentication = "client.ClientSecretBasic(process.env.CLIENT_SECRET)"
        }
        let options: ConfigurationText<JavaScript>? =
            issuer.isSecure ? nil : "  { execute: [client.allowInsecureRequests] }, // The issuer is not https."
        return ConfigurationText(lines: [
            imports, key,
            """

            export const config = await client.discovery(
              new URL(\(issuer.rawValue)),
              \(clientID.rawValue),
              { id_token_signed_response_alg: \(idTokenAlgorithm.rawValue) },
              \(authentication),
            """,
            options,
            ");",
        ])
    }
}
