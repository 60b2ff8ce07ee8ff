public import CounterfoilProtocol

/// The one rule by which a requested redirect URI is compared with the registered ones.
///
/// RFC 6749 §3.1.2.3 and RFC 8252 §8.4: simple string comparison of the bytes that were registered (RFC 3986 §6.2.1), except
/// the port of a loopback URI, which is the application's to choose (RFC 8252 §7.3).
public enum RedirectURIMatching {
    /// What becomes of the `redirect_uri` of a request.
    public enum MatchVerdict: Sendable, Hashable {
        /// The answer goes to the address of a match.
        case matches(Match)
        /// The answer goes nowhere.
        case refused(Refusal)
    }

    /// The redirect URI that a request of an application means, or why it means none.
    ///
    /// The authorization endpoint, the console and the command line all ask this. `requested` is `redirect_uri` as it came;
    /// nil or empty when it was left out (RFC 6749 §3.1). `issuer` is the server; nil before it has ever been started, when
    /// its own origin is not known yet. `callbackOrigin` is the second origin of the server, where it has one.
    public static func verdict(
        on requested: String?, of client: RegisteredClient, asksForOpenID: Bool, issuer: Issuer?,
        callbackOrigin: CallbackOrigin? = nil
    ) -> MatchVerdict {
        do {
            let match = try resolve(requested, registered: client.redirectURIs, asksForOpenID: asksForOpenID)
            // A loopback URI with a free port could be led here, whatever was registered.
            let own = OwnAddresses(issuer: issuer, callbackOrigin: callbackOrigin)
            return own?.forbids(match.uri, to: client.id, type: client.type) ?? false
                ? .refused(.ownOrigin) : .matches(match)
        } catch { return .refused(error) }
    }

    private static func resolve(
        _ requested: String?, registered: [RedirectURI], asksForOpenID: Bool
    ) throws(Refusal) -> Match {
        guard let requested, !requested.isEmpty else {
            // RFC 6749 §3.1.2.3
            guard registered.count == 1, let only = registered.first else { throw .ambiguous }
            guard !asksForOpenID else { throw .requiredByOpenID }
            if case .loopback(_, port: nil) = only.kind { throw .portUnknown }
            return Match(uri: only, registered: only, wasGiven: false)
        }
        let uri: RedirectURI
        do { uri = try RedirectURI(requested) } catch { throw .malformed(error) }
        guard let registered = registered.first(where: { matches(registered: $0, requested: uri) }) else {
            throw .notRegistered
        }
        return Match(uri: uri, registered: registered, wasGiven: true)
    }

    /// Whether a requested URI is the registered one.
    public static func matches(registered: RedirectURI, requested: RedirectURI) -> Bool {
        guard case .loopback(let registeredHost, _) = registered.kind,
            case .loopback(let requestedHost, _) = requested.kind
        else { return registered.rawValue == requested.rawValue }
        // `localhost` and the literals never stand for each other.
        return registeredHost == requestedHost && registered.uri.withoutPort == requested.uri.withoutPort
    }

    /// Whether a URI leads to the server itself, by whatever name of the device.
    public static func isOwnOrigin(
        _ uri: RedirectURI, of issuer: Issuer, _ callbackOrigin: CallbackOrigin? = nil
    ) -> Bool {
        if let callbackOrigin, callbackOrigin.holds(uri) { return true }
        return switch uri.kind {
        case .privateUseScheme: false
        case .loopback(_, let port): issuer.isLoopback && (port ?? 80) == issuer.port
        case .https(let host):
            issuer.isSecure && DomainName.canonical(host) == DomainName.canonical(issuer.host)
                && (uri.uri.port ?? 443) == issuer.port
        }
    }
}

extension RedirectURIMatching {
    /// A registered redirect URI, and what a request makes of it.
    public struct Match: Sendable, Hashable {
        /// Where the answer goes: what was requested, port included.
        public let uri: RedirectURI
        /// The registered one.
        public let registered: RedirectURI
        /// Whether the request named it.
        public let wasGiven: Bool

        fileprivate init(uri: RedirectURI, registered: RedirectURI, wasGiven: Bool) {
            self.uri = uri
            self.registered = registered
            self.wasGiven = wasGiven
        }

        /// Why it matches.
        public var text: Text {
            guard wasGiven else { return Text(RedirectURIPhrase.leftOut, ["uri": .text(registered.rawValue)]) }
            guard uri.rawValue != registered.rawValue else { return Text(RedirectURIPhrase.same) }
            return Text(RedirectURIPhrase.portIsFree, ["uri": .text(registered.rawValue)])
        }
    }

    /// Why a request gets no redirect URI.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// It is not a redirect URI.
        case malformed(RedirectURI.Refusal)
        /// None of the registered ones matches.
        case notRegistered
        /// It was left out, and not exactly one is registered.
        case ambiguous
        /// It was left out in a request for `openid` (OpenID Connect Core §3.1.2.1).
        case requiredByOpenID
        /// It was left out, and the registered one is a loopback address whose port nobody knows.
        case portUnknown
        /// It is an address of this server itself.
        case ownOrigin

        /// What happened, safe to show: nothing of the address stands in it but a scheme that browsers know.
        public var text: Text {
            switch self {
            case .malformed(let refusal): Text(RedirectURIPhrase.unusable, ["why": .phrase(refusal.text)])
            case .notRegistered: Text(RedirectURIPhrase.notRegistered)
            case .ambiguous: Text(RedirectURIPhrase.ambiguous)
            case .requiredByOpenID: Text(RedirectURIPhrase.requiredByOpenID)
            case .portUnknown: Text(RedirectURIPhrase.portUnknown)
            case .ownOrigin: Text(RedirectURIPhrase.ownOriginRequested)
            }
        }

        /// What happened, in English.
        public var description: String { Words.english(text) }
    }
}
