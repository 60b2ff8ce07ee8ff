import CounterfoilProtocol
import Synchronization

/// Which server each redirect URI of this process belongs to.
///
/// RFC 8252 §8.10, RFC 9700 §4.4.2: a server that pretends to be another one's client can have that one's code sent here, and
/// would then be given it. Against that a redirect URI belongs to one server, except that servers which name themselves in
/// every answer (`iss`, RFC 9207) may share one. The port of a loopback URI tells nothing apart: servers leave it free.
package final class RedirectURIUses: Sendable {
    /// What every sign-in of this process uses.
    package static let ofThisProcess = RedirectURIUses()

    private let owners = Mutex<[String: Issuer]>([:])

    package init() {}

    /// Gives a redirect URI to a server, or refuses it because another server has it.
    func claim(
        _ redirectURI: RedirectURI, for server: AuthorizationServerConfiguration
    ) throws(SignInError) {
        // A server on the device itself is the developer's own, on another port each time.
        guard !server.sendsIssuerInResponses, !server.authorizationEndpoint.isLoopback else { return }
        let name = redirectURI.uri.withoutPort
        let owner = owners.withLock { owners in
            let owner = owners[name] ?? server.issuer
            owners[name] = owner
            return owner
        }
        guard owner == server.issuer else {
            throw .unusable(
                "the redirect URI \(name) is that of \(owner) already, and \(server.issuer) does not name itself in its answers,"
                    + " so that one could be taken for the other's; register another redirect URI there, such as one with"
                    + " another path")
        }
    }
}
