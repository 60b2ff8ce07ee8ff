import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens

/// A validated logout request.
///
/// Only ``LogoutValidation`` creates one.
struct ValidatedLogout: Sendable {
    /// The client that sent the request; nil if the client is unknown.
    let client: RegisteredClient?
    /// The verified `id_token_hint`; nil if there is none or it could not be verified.
    let hint: IDTokenHint?
    /// The redirect after the logout; nil if the request names no registered redirect URI.
    let destination: Destination?
    /// The redirect URI of the request, if it is not the ``destination``; nil if the request has none.
    let refused: RefusedLogoutDetails?

    /// A post-logout redirect URI that is registered for the client.
    struct Destination: Sendable {
        /// The redirect URI of the request.
        let uri: RedirectURI
        /// The redirect URI with the parameter `state` of the request.
        let url: String
        /// Whether the redirect URI cannot be misused as an open redirect, so that it needs no click of the user by
        /// itself (RFC 9700 §4.11.2).
        ///
        /// It is true if the client is trusted, or if the URI is a loopback or private-use URI, which never leaves
        /// the device.
        let isReachedWithoutChoice: Bool
    }

    /// The circumstances of the logout, on which the redirect depends.
    enum Ground: Sendable {
        /// The `id_token_hint` names the ended session and its user, which proves that the client meant this session.
        case session
        /// The user confirmed the sign-out on a page of this server.
        case confirmation
        /// There was no valid session, and the user was not asked.
        case none
    }

    fileprivate init(
        client: RegisteredClient?, hint: IDTokenHint?, destination: Destination?, redirectURI: String?
    ) {
        self.client = client
        self.hint = hint
        self.destination = destination
        refused = destination == nil ? redirectURI.map { RefusedLogoutDetails($0, of: client) } : nil
    }

    /// Returns true if the browser continues to the destination automatically, and false if the user must press
    /// a button.
    ///
    /// The browser must continue automatically if the client has proved that it means this session (OpenID
    /// Connect RP-Initiated Logout §3). Without that proof, the browser continues automatically only to a redirect
    /// URI for which no choice of the user is needed (RFC 9700 §4.11.2), because anyone can send a request with an
    /// ID token of another session. If the user was not asked either, the request must also have a valid hint.
    func continuesAutomatically(on ground: Ground) -> Bool {
        guard let destination else { return false }
        return switch ground {
        case .session: true
        case .confirmation: destination.isReachedWithoutChoice
        case .none: hint != nil && destination.isReachedWithoutChoice
        }
    }
}

/// The rules for logout requests (OpenID Connect RP-Initiated Logout §2 and §3).
enum LogoutValidation {
    /// The result of verifying `id_token_hint`.
    enum HintVerdict: Sendable {
        /// The request has no hint.
        case absent
        /// The hint is an ID token of this server, expired or not.
        case genuine(IDTokenHint)
        /// The hint is not an ID token of this server, or its signing key was deleted.
        case refused
    }

    /// Returns the client that sent the request: the one of `client_id`, or the audience of the ID token.
    ///
    /// If the request has both, they must match (OpenID Connect RP-Initiated Logout §2).
    static func clientID(of request: LogoutRequest, hint: HintVerdict) -> ClientIdentifier? {
        let named = request.clientID.flatMap(ClientIdentifier.init(_:))
        switch hint {
        case .refused: return nil
        case .absent: return named
        case .genuine(let hint):
            guard request.clientID != nil else {
                return hint.audience.count == 1 ? hint.audience.first.flatMap(ClientIdentifier.init(_:)) : nil
            }
            return named.flatMap { name in
                hint.audience.contains { $0.utf8.elementsEqual(name.rawValue.utf8) } ? name : nil
            }
        }
    }

    /// Validates a logout request; `client` is the registration that belongs to ``clientID(of:hint:)``.
    static func validate(
        _ request: LogoutRequest, hint: HintVerdict, client: RegisteredClient?, settings: ServerSettings
    ) -> ValidatedLogout {
        guard let client else {
            return ValidatedLogout(
                client: nil, hint: nil, destination: nil, redirectURI: request.postLogoutRedirectURI)
        }
        var genuine: IDTokenHint?
        if case .genuine(let hint) = hint { genuine = hint }
        return ValidatedLogout(
            client: client, hint: genuine,
            destination: destination(of: request, client: client, settings: settings),
            redirectURI: client.suspension == nil ? request.postLogoutRedirectURI : nil)
    }

    /// Returns the redirect after the logout, if the client has registered the URI for this purpose (OpenID
    /// Connect RP-Initiated Logout §3).
    ///
    /// Post-logout redirect URIs are compared like redirect URIs, and development ones can be switched off like them.
    /// A suspended client has none, because the URI can be the reason.
    private static func destination(
        of request: LogoutRequest, client: RegisteredClient, settings: ServerSettings
    ) -> ValidatedLogout.Destination? {
        guard client.suspension == nil, let text = request.postLogoutRedirectURI, let uri = try? RedirectURI(text),
            settings.allowsDevelopmentRedirectURIs || !uri.isForDevelopment(of: client.type),
            client.postLogoutRedirectURIs.contains(where: {
                RedirectURIMatching.matches(registered: $0, requested: uri, of: client.type)
            }), !RedirectURIMatching.isOwnOrigin(uri, of: settings.issuer, settings.callbackOrigin)
        else { return nil }
        return ValidatedLogout.Destination(
            uri: uri,
            url: request.state.map { uri.appending(FormParameters(["state": $0.exposed])) } ?? uri.rawValue,
            isReachedWithoutChoice: client.isReachedWithoutChoice(at: uri))
    }
}
