import CounterfoilProtocol

/// The reason why a response is known to reach the client that the request names (RFC 8252 §8.6).
///
/// It depends on the redirect URI. Every program on the device can use a loopback address or a private-use scheme
/// (RFC 8252 §8.4). So neither gives assurance, whatever the policy of the client says.
enum ClientAssurance: Sendable, Hashable {
    /// The code goes to an https URL of a client that belongs to the owner of this server.
    case firstParty
    /// The code goes to an https URL of the client, and only a holder of the client secret can redeem it.
    case secret
    /// The code goes to an https URL that an administrator has verified as claimed by the client (RFC 8252
    /// §7.2).
    case claimedAddress

    /// Determines the assurance for a client and a redirect URI; nil if there is none.
    ///
    /// - Parameter isAtCallbackOrigin: whether `redirectURI` is at the callback origin, whose URLs the app of
    ///   another client could claim too (see ``CallbackOrigin``).
    init?(of client: RegisteredClient, at redirectURI: RedirectURI, isAtCallbackOrigin: Bool) {
        guard case .https = redirectURI.kind else { return nil }
        if client.policy.isFirstParty && !isAtCallbackOrigin {
            self = .firstParty
            return
        }
        switch client.type {
        case .web: self = .secret
        case .native where client.policy.isClaimedHTTPSVerified && !isAtCallbackOrigin: self = .claimedAddress
        case .native, .singlePage, .device, .service: return nil
        }
    }
}

extension RegisteredClient {
    /// Returns true if the browser continues to a redirect URI of the client without a choice of the user
    /// (RFC 9700 §4.11.2).
    ///
    /// Otherwise every developer could misuse this server to redirect users to an https URL of their own. A
    /// request to a loopback address or a private-use scheme never leaves the device.
    func isReachedWithoutChoice(at uri: RedirectURI) -> Bool {
        guard !policy.isTrusted, case .https = uri.kind else { return true }
        return false
    }
}

extension ClientPolicy {
    /// Whether an administrator has verified the publisher, or the client belongs to the owner of this server.
    var isTrusted: Bool { isVouchedFor || isFirstParty }
}
