@_spi(Counterfoil) import CounterfoilProtocol

/// The servers with which this process uses its redirect URIs, one server for each redirect URI.
///
/// RFC 8252 §8.10, RFC 9700 §4.4.2: in a mix-up attack, a malicious server redirects the browser to an
/// honest server. The client receives a code of the honest server, takes it for a code of the malicious
/// server, and would send it to the malicious server. Therefore each redirect URI is used with one server
/// only. Servers that send `iss` in every response (RFC 9207) may share a redirect URI. Loopback URIs that
/// differ only in the port count as the same, because servers allow any port.
///
/// A redirect URI belongs to its server until the process ends. The server still knows it after a sign-in, so it could
/// redirect the browser there during a sign-in at another server.
package final class RedirectURIUses: Sendable {
    /// The instance that all sign-ins of this process share.
    package static let ofThisProcess = RedirectURIUses()

    private let owners = Mutex<[String: Issuer]>([:])

    package init() {}

    /// Returns true if a server needs redirect URIs of its own.
    ///
    /// A server on loopback is exempt. It belongs to the developer, and its issuer may contain another port at each
    /// start.
    static func separates(_ server: AuthorizationServerConfiguration) -> Bool {
        !server.sendsIssuerInResponses && !server.authorizationEndpoint.isLoopback
    }

    /// Assigns a redirect URI to a server; throws if it belongs to another server.
    func claim(
        _ redirectURI: RedirectURI, for server: AuthorizationServerConfiguration
    ) throws(SignInError) {
        guard Self.separates(server) else { return }
        let name =
            if case .loopback = redirectURI.kind { redirectURI.uri.withoutPort } else { redirectURI.rawValue }
        let owner = owners.withLock { owners in
            let owner = owners[name] ?? server.issuer
            owners[name] = owner
            return owner
        }
        guard owner == server.issuer else {
            throw .unusable(
                "the redirect URI \(name) is already used with \(owner), and \(server.issuer) does not name itself in its responses"
                    + " (iss), so the responses could be mixed up; register another redirect URI there, for example with"
                    + " another path")
        }
    }
}
