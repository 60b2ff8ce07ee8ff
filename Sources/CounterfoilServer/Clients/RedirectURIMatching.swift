package import CounterfoilProtocol

/// The comparison of a requested redirect URI with the registered ones.
///
/// RFC 6749 §3.1.2.3 and RFC 8252 §8.4: simple string comparison with the registered bytes
/// (RFC 3986 §6.2.1). The port of a loopback URI is the exception: the client may choose it
/// (RFC 8252 §7.3).
package enum RedirectURIMatching {
    /// The result of comparing the `redirect_uri` of a request.
    package enum MatchVerdict: Sendable, Hashable {
        /// The response goes to the URI of the match.
        case matches(Match)
        /// No redirect happens.
        case refused(Refusal)
    }

    /// Determines the redirect URI of a client's request, or the reason why there is none.
    ///
    /// The authorization endpoint, the console and the command line all use this function.
    ///
    /// - Parameters:
    ///   - requested: `redirect_uri` as received; nil or empty if it was omitted (RFC 6749 §3.1).
    ///   - client: The client that sends the request.
    ///   - asksForOpenID: Whether the request asks for the scope `openid`.
    ///   - issuer: The server; nil before its first start, when its own origin is not known yet.
    ///   - callbackOrigin: The second origin of the server; nil if it has none.
    package static func verdict(
        on requested: String?, of client: RegisteredClient, asksForOpenID: Bool, issuer: Issuer?,
        callbackOrigin: CallbackOrigin? = nil
    ) -> MatchVerdict {
        do {
            let match = try resolve(requested, registered: client.redirectURIs, asksForOpenID: asksForOpenID)
            // A loopback URI matches with any port, so a request could name the port of this server.
            let own = OwnAddresses(issuer: issuer, callbackOrigin: callbackOrigin)
            return own?.forbids(match.redirectURI.uri, to: client.id, type: client.type) ?? false
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
            return Match(redirectURI: .registered(only), registered: only)
        }
        let uri: RedirectURI
        do { uri = try RedirectURI(requested) } catch { throw .malformed(error) }
        guard let registered = registered.first(where: { matches(registered: $0, requested: uri) }) else {
            throw .notRegistered
        }
        return Match(redirectURI: .requested(uri), registered: registered)
    }

    /// Returns true if a requested URI matches a registered one.
    package static func matches(registered: RedirectURI, requested: RedirectURI) -> Bool {
        guard case .loopback(let registeredHost, _) = registered.kind,
            case .loopback(let requestedHost, _) = requested.kind
        else { return registered.rawValue == requested.rawValue }
        // `localhost` and the IP literals never match each other.
        return registeredHost == requestedHost && registered.uri.withoutPort == requested.uri.withoutPort
    }

    /// Returns true if a URI leads to the server itself, under any loopback host name.
    package static func isOwnOrigin(
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
    /// A registered redirect URI together with the requested one.
    package struct Match: Localized, Hashable {
        /// The redirect URI that gets the response.
        package let redirectURI: ResponseRedirectURI
        /// The registered URI.
        package let registered: RedirectURI

        fileprivate init(redirectURI: ResponseRedirectURI, registered: RedirectURI) {
            self.redirectURI = redirectURI
            self.registered = registered
        }

        /// The reason why it matches, for the user.
        package var text: LocalizedText {
            guard let requested = redirectURI.requested else {
                return LocalizedText("redirect-uri.left-out", ["uri": .text(registered.rawValue)])
            }
            guard requested.rawValue != registered.rawValue else { return LocalizedText("redirect-uri.preview.same") }
            return LocalizedText("redirect-uri.preview.port-is-free", ["uri": .text(registered.rawValue)])
        }
    }

    /// The reason why a request has no valid redirect URI.
    package enum Refusal: Error, Localized, Hashable, CustomStringConvertible {
        /// It is not a redirect URI.
        case malformed(RedirectURI.Refusal)
        /// No registered URI matches.
        case notRegistered
        /// It was omitted, and the client has not exactly one registered URI.
        case ambiguous
        /// It was omitted in a request for `openid` (OpenID Connect Core §3.1.2.1).
        case requiredByOpenID
        /// It was omitted, and the registered one is a loopback URI, whose port is not known.
        case portUnknown
        /// It is a URI of this server itself.
        case ownOrigin

        /// The message for the user.
        ///
        /// It is safe to show: it contains nothing of the URI but a scheme that browsers know.
        package var text: LocalizedText {
            switch self {
            case .malformed(let refusal): LocalizedText("redirect-uri.unusable", ["why": .nested(refusal.text)])
            case .notRegistered: LocalizedText("redirect-uri.not-registered")
            case .ambiguous: LocalizedText("redirect-uri.ambiguous")
            case .requiredByOpenID: LocalizedText("redirect-uri.required-by-openid")
            case .portUnknown: LocalizedText("redirect-uri.port-unknown")
            case .ownOrigin: LocalizedText("redirect-uri.own-origin-requested")
            }
        }
    }
}
