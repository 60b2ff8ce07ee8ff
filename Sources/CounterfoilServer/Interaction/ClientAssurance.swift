import CounterfoilProtocol

/// Why a request is known to come from the application that it names, so that what was allowed before still counts
/// (RFC 8252 §8.6).
///
/// Loopback addresses and private-use schemes assure nothing: any application on the device can take them (RFC 8252 §8.4),
/// and so can one that knows the identifier of another.
enum ClientAssurance: Sendable, Hashable {
    /// It belongs to the owner of this server.
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
        if client.policy.isFirstParty {
            self = .firstParty
            return
        }
        guard case .https = redirectURI.kind else { return nil }
        switch client.type {
        case .web: self = .secret
        case .native where client.policy.isClaimedHTTPSVerified && !isAtCallbackOrigin: self = .claimedAddress
        case .native, .singlePage, .device, .service: return nil
        }
    }
}

extension ClientPolicy {
    /// Whether somebody who runs this server answers for the application.
    var isTrusted: Bool { isVouchedFor || isFirstParty }
}
