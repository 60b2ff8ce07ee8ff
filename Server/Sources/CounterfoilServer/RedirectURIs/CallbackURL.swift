package import CounterfoilProtocol
package import CounterfoilStore

/// A redirect URI at this server for a native app without a website.
///
/// The app claims the URL, so that the platform opens the app instead of the browser (RFC 8252 §7.2). If that fails,
/// the browser opens the URL, and its page only shows a message. A client has one callback URL at the issuer, and
/// another at the callback origin if the server has one.
package struct CallbackURL: Sendable, Hashable {
    /// The URL, which is compared byte by byte.
    package let rawValue: String

    /// The redirect URI of a client at the issuer; nil if the client cannot have one.
    package init?(of client: ClientIdentifier, type: ClientType, issuer: Issuer) {
        guard issuer.isSecure, Self.isPossible(for: client, type) else { return nil }
        rawValue = issuer.endpoint(Endpoint.callback.path(of: client))
    }

    /// The redirect URI of a client at the callback origin; nil if the client cannot have one.
    package init?(of client: ClientIdentifier, type: ClientType, at origin: CallbackOrigin) {
        guard Self.isPossible(for: client, type) else { return nil }
        rawValue = origin.rawValue + Endpoint.callback.path(of: client)
    }

    /// Returns true if a client can have a callback URL: it is native, and its identifier is safe in a path.
    ///
    /// A reserved character could change the path to that of another client.
    private static func isPossible(for client: ClientIdentifier, _ type: ClientType) -> Bool {
        type == .native && ClientPathSegment.isPlain(client)
    }
}

/// The origins of the server itself, where only the URLs of ``CallbackURL`` can be redirect URIs.
struct ServerOrigins: Sendable, Hashable {
    let issuer: Issuer
    let callbackOrigin: CallbackOrigin?

    /// Returns nil before the first start of the server, when the issuer is unknown.
    init?(issuer: Issuer?, callbackOrigin: CallbackOrigin?) {
        guard let issuer else { return nil }
        self.issuer = issuer
        self.callbackOrigin = callbackOrigin
    }

    /// Returns true if a URI is at an origin of this server, but is not a callback URL of the client.
    func forbids(_ uri: RedirectURI, to client: ClientIdentifier?, type: ClientType) -> Bool {
        guard RedirectURIMatching.isOwnOrigin(uri, of: issuer, callbackOrigin) else { return false }
        guard let client else { return true }
        let callbacks = [
            CallbackURL(of: client, type: type, issuer: issuer),
            callbackOrigin.flatMap { CallbackURL(of: client, type: type, at: $0) },
        ]
        return !callbacks.contains { $0?.rawValue == uri.rawValue }
    }
}
