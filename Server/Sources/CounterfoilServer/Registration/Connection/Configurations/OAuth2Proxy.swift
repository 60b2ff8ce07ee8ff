import CounterfoilProtocol
import CounterfoilStore

// Keys: https://oauth2-proxy.github.io/oauth2-proxy/configuration/overview
extension ConfigurationRecipe {
    static let oauth2Proxy = ConfigurationRecipe("oauth2-proxy", "oauth2-proxy", file: "oauth2-proxy.cfg", for: [.web])
    { connection -> ConfigurationText<TOML>? in
        guard connection.keys == nil, connection.usesOpenID,
            let redirectURI = connection.redirectURI(preferring: { $0.route == "/oauth2/callback" })
        else { return nil }
        return ConfigurationText(lines: [
            """
            # The secrets are in the environment: OAUTH2_PROXY_CLIENT_SECRET, and OAUTH2_PROXY_COOKIE_SECRET with
            # the output of: openssl rand -base64 32 | tr -- '+/' '-_'
            provider = "oidc"
            oidc_issuer_url = \(connection.issuer.rawValue)
            client_id = \(connection.clientID.rawValue)
            redirect_url = \(redirectURI.rawValue)
            scope = \(connection.scope.description)
            code_challenge_method = "S256"
            """,
            connection.scope.contains(.email)
                ? nil
                : """
                # Without the scope email, the subject identifier takes the place of the email address.
                oidc_email_claim = "sub"
                """,
            redirectURI.proxyPrefix,
            redirectURI.uri.scheme == "https" ? nil : "cookie_secure = false",
            """
            # Users with any email address; restrict it to your domains if necessary.
            email_domains = ["*"]
            # The application behind the proxy.
            upstreams = ["http://127.0.0.1:8080/"]

            """,
        ])
    }
}

extension RedirectURI {
    /// The setting that makes oauth2-proxy receive the response at this URI; by default, it is `/oauth2/callback`.
    fileprivate var proxyPrefix: ConfigurationText<TOML>? {
        guard route != "/oauth2/callback" else { return nil }
        let suffix = "/callback"
        guard route.hasSuffix(suffix), route.utf8.count > suffix.utf8.count else {
            return "# oauth2-proxy needs a redirect URI whose path ends with /callback, such as /oauth2/callback."
        }
        return "proxy_prefix = \(String(route.dropLast(suffix.count)))"
    }
}
