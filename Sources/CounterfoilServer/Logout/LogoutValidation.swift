import CounterfoilProtocol
import CounterfoilTokens

/// A request for the end of a session, judged.
///
/// Only ``LogoutValidation`` makes one.
struct ValidatedLogout: Sendable {
    /// The application that asks; nil when none is known.
    let client: RegisteredClient?
    /// Whom it means, by an ID token of ours; nil when it names nobody whom we know to be named by us.
    let hint: IDTokenHint?
    /// Where the person goes afterwards; nil when it is no address of the application.
    let destination: Destination?

    /// A registered address of the client.
    struct Destination: Sendable {
        /// The address as the request names it.
        let uri: RedirectURI
        /// The same with `state`.
        let url: String
        /// Whether the browser goes there without a choice of the user.
        let isReachedWithoutChoice: Bool
    }

    /// What speaks for the request, beside itself.
    enum Ground: Sendable {
        /// The hint means the session that it ended.
        case session
        /// The user confirmed the sign-out on a page of this server.
        case confirmation
        /// Nothing: there was no session, and nobody was asked.
        case none
    }

    fileprivate init(client: RegisteredClient?, hint: IDTokenHint?, destination: Destination?) {
        self.client = client
        self.hint = hint
        self.destination = destination
    }

    /// Whether the browser goes on to the destination by itself; otherwise the user presses a button.
    ///
    /// OpenID Connect RP-Initiated Logout §3 requires it where the client has shown that it means this very session. Anybody can
    /// send a request with an ID token of another session, so that then, and after a confirmation, it depends on the address
    /// (RFC 9700 §4.11.2).
    func goesOn(on ground: Ground) -> Bool {
        guard let destination else { return false }
        return switch ground {
        case .session: true
        case .confirmation: destination.isReachedWithoutChoice
        case .none: hint != nil && destination.isReachedWithoutChoice
        }
    }
}

/// The rules for what a request at the logout endpoint is worth (OpenID Connect RP-Initiated Logout §2 and §3).
enum LogoutValidation {
    /// What became of `id_token_hint`.
    enum HintVerdict: Sendable {
        /// It was left out.
        case absent
        /// It is an ID token of ours, expired or not.
        case genuine(IDTokenHint)
        /// It is not, or not any more that we could tell.
        case refused
    }

    /// Which application asks: the one of `client_id`, or the one that the ID token was issued to.
    ///
    /// OpenID Connect RP-Initiated Logout §2: where both are there they must be the same one.
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

    /// Judges a request of an application that was looked up by ``clientID(of:hint:)``.
    static func validate(
        _ request: LogoutRequest, hint: HintVerdict, client: RegisteredClient?, settings: ServerSettings
    ) -> ValidatedLogout {
        guard let client else { return ValidatedLogout(client: nil, hint: nil, destination: nil) }
        var genuine: IDTokenHint?
        if case .genuine(let hint) = hint { genuine = hint }
        return ValidatedLogout(
            client: client, hint: genuine,
            destination: destination(of: request, client: client, settings: settings))
    }

    /// OpenID Connect RP-Initiated Logout §3: exactly an address that the application has registered for this, by the one rule that
    /// redirect URIs are compared by, or none.
    private static func destination(
        of request: LogoutRequest, client: RegisteredClient, settings: ServerSettings
    ) -> ValidatedLogout.Destination? {
        guard let text = request.postLogoutRedirectURI, let uri = try? RedirectURI(text),
            client.postLogoutRedirectURIs.contains(where: {
                RedirectURIMatching.matches(registered: $0, requested: uri)
            }), !RedirectURIMatching.isOwnOrigin(uri, of: settings.issuer, settings.callbackOrigin)
        else { return nil }
        return ValidatedLogout.Destination(
            uri: uri,
            url: request.state.map { uri.appending(FormParameters(["state": $0.exposed])) } ?? uri.rawValue,
            isReachedWithoutChoice: client.isReachedWithoutChoice(at: uri))
    }
}
