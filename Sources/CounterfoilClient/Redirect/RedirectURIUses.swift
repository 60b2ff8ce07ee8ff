import CounterfoilProtocol
import Synchronization

/// The server to which each redirect URI of this process belongs.
///
/// RFC 8252 §8.10, RFC 9700 §4.4.2: a malicious server can redirect the browser to an honest server. The
/// code of the honest server arrives here, and the client would send it to the malicious one. Therefore a
/// redirect URI belongs to one server. Servers that send `iss` in every response (RFC 9207) may share
/// one. The port of a loopback URI makes no difference, because servers allow any port.
package final class RedirectURIUses: Sendable {
    /// The instance that all sign-ins of this process share.
    package static let ofThisProcess = RedirectURIUses()

    private let owners = Mutex<[String: Issuer]>([:])

    package init() {}

    /// Assigns a redirect URI to a server; throws if it belongs to another server.
    func claim(
        _ redirectURI: RedirectURI, for server: AuthorizationServerConfiguration
    ) throws(SignInError) {
        // A loopback server is the developer's own, and uses another port each time.
        guard !server.sendsIssuerInResponses, !server.authorizationEndpoint.isLoopback else { return }
        let name = redirectURI.uri.withoutPort
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
