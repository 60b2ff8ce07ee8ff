import CounterfoilProtocol
import CounterfoilStore

/// The reason why a response is known to reach the client that the request names (RFC 8252 §8.6).
///
/// The reason depends on the redirect URI. Every program on the device can use a loopback address or a
/// private-use scheme (RFC 8252 §8.4). So these kinds of redirect URI give no assurance, whatever the policy of
/// the client says. A development redirect URI of a web client gives none either, although the client authenticates.
/// Of the clients that no person registered, only those with a key in their document give one.
enum ClientAssurance: Sendable, Hashable {
    /// The code goes to an https URL of a first-party client, which belongs to the owner of this server.
    case firstParty
    /// The code goes to an https URL of the client, and only a client that authenticates with its secret or key can
    /// redeem it.
    case secret
    /// The code goes to an https URL that an administrator has verified to belong to the client: a URL that a native
    /// app claims (RFC 8252 §7.2), or the page of a single-page client.
    case verifiedHTTPS
    /// The code goes to an https URL of a single-page client for which an administrator vouches.
    ///
    /// Only the page at this URL receives the code. A native app would also have to prove that it claims the URL.
    case vouchedHTTPS
    /// The code goes to an https URL at the host of the client's document, and only a client that authenticates with a
    /// key of this document can redeem it (draft-ietf-oauth-client-id-metadata-document §6.2).
    case documentHost

    /// Determines the assurance for a client and a redirect URI; nil if there is none.
    ///
    /// - Parameter isAtCallbackOrigin: Whether `redirectURI` is at the callback origin, whose URLs the app of
    ///   another client could also claim (see ``CallbackOrigin``).
    init?(of client: RegisteredClient, at redirectURI: RedirectURI, isAtCallbackOrigin: Bool) {
        guard case .https = redirectURI.kind else { return nil }
        // No policy speaks for a client that no person has registered.
        guard !client.isUnregistered else {
            guard client.isAtOwnHost(redirectURI) else { return nil }
            self = .documentHost
            return
        }
        if client.policy.isFirstParty && !isAtCallbackOrigin {
            self = .firstParty
            return
        }
        switch client.type {
        case .web: self = .secret
        case .native, .singlePage:
            guard !isAtCallbackOrigin else { return nil }
            if client.policy.isClaimedHTTPSVerified {
                self = .verifiedHTTPS
            } else if client.type == .singlePage, client.policy.isVouchedFor {
                self = .vouchedHTTPS
            } else {
                return nil
            }
        case .device, .service: return nil
        }
    }
}

extension RegisteredClient {
    /// Returns true if the client authenticates with a key of its document, and a redirect URI has the host and the
    /// port of this document.
    ///
    /// Anyone who registers a client can choose its host and its secret, so it is false for a client that registered
    /// itself.
    fileprivate func isAtOwnHost(_ redirectURI: RedirectURI) -> Bool {
        guard case .document = source, authenticationMethods == ["private_key_jwt"],
            let document = try? AbsoluteURI(parsing: id.rawValue), let host = document.host
        else { return false }
        return redirectURI.uri.host?.lowercased() == host.lowercased()
            && (redirectURI.uri.port ?? 443) == (document.port ?? 443)
    }

    /// Returns true if the browser may continue to a redirect URI of the client without a choice of the user
    /// (RFC 9700 §4.11.2).
    ///
    /// At an https URL of an untrusted client the user must choose, so that no developer can misuse this server
    /// as an open redirector. A request to a loopback address or a private-use scheme never leaves the device.
    func isReachedWithoutChoice(at uri: RedirectURI) -> Bool {
        guard !policy.isTrusted, case .https = uri.kind else { return true }
        return false
    }
}

extension ClientPolicy {
    /// Whether an administrator has verified the publisher, or the client belongs to the owner of this server.
    var isTrusted: Bool { isVouchedFor || isFirstParty }
}
