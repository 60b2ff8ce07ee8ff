package import CounterfoilProtocol

/// An address of this server that an application may have as its redirect URI: a page that does nothing.
///
/// A native application without a website claims it, so that its platform opens the application instead of the page
/// (RFC 8252 §7.2). There is one at the issuer, and one at the second origin where the server has one.
package struct CallbackAddress: Sendable, Hashable {
    /// The address, which is compared byte by byte.
    package let rawValue: String

    /// The address of an application at the issuer; nil where it can have none.
    package init?(of client: ClientIdentifier, type: ClientType, issuer: Issuer) {
        guard issuer.isSecure, Self.isPossible(for: client, type) else { return nil }
        rawValue = issuer.endpoint(Endpoint.callback.path(of: client))
    }

    /// The address of an application at the second origin; nil where it can have none.
    package init?(of client: ClientIdentifier, type: ClientType, at origin: CallbackOrigin) {
        guard Self.isPossible(for: client, type) else { return nil }
        rawValue = origin.rawValue + Endpoint.callback.path(of: client)
    }

    /// A character with a meaning in URIs would make the path that of another application.
    private static func isPossible(for client: ClientIdentifier, _ type: ClientType) -> Bool {
        type == .native && client.rawValue.utf8.allSatisfy(\.isUnreserved)
            && client.rawValue.utf8.contains { $0 != UInt8(ascii: ".") }
    }
}

/// The addresses of the server itself, none of which is a redirect URI but for callback addresses.
struct OwnAddresses: Sendable, Hashable {
    let issuer: Issuer
    let callbackOrigin: CallbackOrigin?

    /// Nothing is known before the server has ever been started.
    init?(issuer: Issuer?, callbackOrigin: CallbackOrigin?) {
        guard let issuer else { return nil }
        self.issuer = issuer
        self.callbackOrigin = callbackOrigin
    }

    /// Whether a URI leads to the server and is not the callback address of an application.
    func forbids(_ uri: RedirectURI, to client: ClientIdentifier?, type: ClientType) -> Bool {
        guard RedirectURIMatching.isOwnOrigin(uri, of: issuer, callbackOrigin) else { return false }
        guard let client else { return true }
        let callbacks = [
            CallbackAddress(of: client, type: type, issuer: issuer),
            callbackOrigin.flatMap { CallbackAddress(of: client, type: type, at: $0) },
        ]
        return !callbacks.contains { $0?.rawValue == uri.rawValue }
    }
}
