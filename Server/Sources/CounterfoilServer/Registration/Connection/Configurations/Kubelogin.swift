import CounterfoilProtocol
import CounterfoilStore
import CounterfoilTokens

// Options: https://github.com/int128/kubelogin/blob/master/docs/usage.md
extension ConfigurationRecipe {
    static let kubelogin = ConfigurationRecipe(
        "kubelogin", "kubelogin (kubectl oidc-login)", file: "kubeconfig.yaml", for: [.native]
    ) { connection -> ConfigurationText<YAML>? in
        guard connection.usesOpenID,
            let redirectURI = connection.redirectURIs.first(where: { $0.listening != nil }),
            let (listenAddress, url) = redirectURI.listening
        else { return nil }
        let scopes: [ConfigurationText<YAML>?] = connection.scope.tokens.filter { $0 != .openID }.map { token in
            // The option is a list in CSV, and no scope token contains a quotation mark (RFC 6749 §3.3).
            let value = token.rawValue.contains(",") ? "\"\(token.rawValue)\"" : token.rawValue
            return "      - \("--oidc-extra-scope=" + value)"
        }
        let hasEmail = connection.putsUserClaimsInIDToken && connection.scope.contains(.email)
        return ConfigurationText(
            lines: [
                """
                # kube-apiserver needs these options:
                #   \("--oidc-issuer-url=" + connection.issuer.rawValue)
                #   \("--oidc-client-id=" + connection.clientID.rawValue)
                #   \("--oidc-signing-algs=" + connection.idTokenAlgorithm.rawValue)
                #   \("--oidc-username-claim=" + (hasEmail ? "email" : "sub"))
                apiVersion: v1
                kind: Config
                users:
                - name: counterfoil
                  user:
                    exec:
                      apiVersion: client.authentication.k8s.io/v1
                      interactiveMode: Never
                      command: kubectl
                      args:
                      - oidc-login
                      - get-token
                      - \("--oidc-issuer-url=" + connection.issuer.rawValue)
                      - \("--oidc-client-id=" + connection.clientID.rawValue)
                      - --oidc-pkce-method=S256
                      - \("--listen-address=" + listenAddress)
                      - \("--oidc-redirect-url=" + url)
                """
            ] + scopes + [""])
    }
}

extension RedirectURI {
    /// The address on which kubelogin listens for the response, and the redirect URI with its port.
    ///
    /// The result is nil unless this is a loopback redirect URI without a query. If it has no port, the port is
    /// 8000, the default of kubelogin; the server accepts any port (RFC 8252 §7.3).
    fileprivate var listening: (address: String, url: String)? {
        guard case .loopback(let host, let port) = kind, uri.query == nil else { return nil }
        let used = port ?? 8000
        let address = host == .ipv6 ? "[::1]" : "127.0.0.1"
        return ("\(address):\(used)", "http://\(host.rawValue):\(used)\(uri.path)")
    }
}
