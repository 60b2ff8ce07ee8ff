import CounterfoilProtocol

/// Why the answer to a request is known to reach the client that the request names (RFC 8252 §8.6).
///
/// The redirect URI decides. Every program on the device can take a loopback address or a private-use scheme (RFC 8252 §8.4), so
/// there is no assurance for either, whatever the policy of the client says.
enum ClientAssurance: Sendable, Hashable {
    /// The code goes to an https address of a client that belongs to the owner of this server.
    case firstParty
    /// The code goes to its own https address, and only who has its secret redeems it.
    case secret
    /// The code goes to an https address that somebody who runs this server knows to be claimed by it (RFC 8252 §7.2).
    case claimedAddress

    /// What assures the identity of an application whose answer goes to `redirectURI`; nil when nothing does.
    ///
    /// - Parameter isAtCallbackOrigin: whether that is an address at the second origin, which the app of another client could be
    ///   given too (see ``CallbackOrigin``).
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
    /// Whether a browser goes on to an address of the client without a choice of the user (RFC 9700 §4.11.2).
    ///
    /// Otherwise every developer could use this server to send users to an https address of their own. A loopback address or a
    /// private-use scheme never leaves the device.
    func isReachedWithoutChoice(at uri: RedirectURI) -> Bool {
        guard !policy.isTrusted, case .https = uri.kind else { return true }
        return false
    }
}

extension ClientPolicy {
    /// Whether somebody who runs this server answers for the application.
    var isTrusted: Bool { isVouchedFor || isFirstParty }
}
