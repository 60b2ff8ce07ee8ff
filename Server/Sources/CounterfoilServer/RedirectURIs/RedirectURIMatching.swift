package import CounterfoilProtocol
package import CounterfoilStore

/// The comparison of a requested redirect URI with the registered ones.
///
/// The requested URI must be identical to a registered one, byte by byte (RFC 6749 §3.1.2.3, RFC 8252 §8.4, RFC
/// 3986 §6.2.1). The only exception is the port of a loopback URI. A native client may choose any port (RFC 8252 §7.3).
/// A web or single-page client may choose it only if the registered URI has none.
package enum RedirectURIMatching {
    /// The result of comparing the `redirect_uri` of a request with the registered redirect URIs.
    package enum MatchVerdict: Sendable, Hashable {
        /// The response goes to the redirect URI of the match.
        case matches(Match)
        /// The request has no valid redirect URI, so the browser is not redirected.
        case refused(Refusal)
    }

    /// Determines the redirect URI for the response to a client's request, or the reason why there is none.
    ///
    /// The authorization endpoint, the console and the command line all use this function.
    ///
    /// - Parameters:
    ///   - requested: `redirect_uri` as received; nil or empty if it was omitted (RFC 6749 §3.1).
    ///   - client: The client that sends the request.
    ///   - asksForOpenID: Whether the request asks for the scope `openid`.
    ///   - issuer: The issuer of the server; nil before the first start, when the server's origin is not known yet.
    ///   - callbackOrigin: The second origin of the server; nil if it has none.
    ///   - allowsDevelopment: The value of ``ServerSettings/allowsDevelopmentRedirectURIs``.
    package static func verdict(
        on requested: String?, of client: RegisteredClient, asksForOpenID: Bool, issuer: Issuer?,
        callbackOrigin: CallbackOrigin? = nil, allowsDevelopment: Bool
    ) -> MatchVerdict {
        do {
            let match = try resolve(requested, of: client, asksForOpenID: asksForOpenID)
            guard allowsDevelopment || !match.isForDevelopment else { return .refused(.developmentOff) }
            // A loopback URI can match with any port, so a request could name the port of this server.
            let own = ServerOrigins(issuer: issuer, callbackOrigin: callbackOrigin)
            return own?.forbids(match.redirectURI.uri, to: client.id, type: client.type) ?? false
                ? .refused(.ownOrigin) : .matches(match)
        } catch { return .refused(error) }
    }

    private static func resolve(
        _ requested: String?, of client: RegisteredClient, asksForOpenID: Bool
    ) throws(Refusal) -> Match {
        let registered = client.redirectURIs
        guard let requested, !requested.isEmpty else {
            // RFC 6749 §3.1.2.3: `redirect_uri` can be omitted only if the client has exactly one redirect URI.
            guard registered.count == 1, let only = registered.first else { throw .ambiguous }
            guard !asksForOpenID else { throw .requiredByOpenID }
            if case .loopback(_, port: nil) = only.kind { throw .portUnknown }
            return Match(redirectURI: .registered(only), registered: only, of: client.type)
        }
        let uri: RedirectURI
        do { uri = try RedirectURI(requested) } catch { throw .malformed(error) }
        guard let registered = registered.first(where: { matches(registered: $0, requested: uri, of: client.type) })
        else { throw .notRegistered }
        return Match(redirectURI: .requested(uri), registered: registered, of: client.type)
    }

    /// Returns true if the URIs are identical, or are loopback URIs that differ only in a port that the client may
    /// choose.
    package static func matches(registered: RedirectURI, requested: RedirectURI, of type: ClientType) -> Bool {
        guard hasFreePort(registered, of: type), case .loopback(let registeredHost, _) = registered.kind,
            case .loopback(let requestedHost, _) = requested.kind
        else { return registered.rawValue == requested.rawValue }
        // `localhost` and the IP literals never match each other.
        return registeredHost == requestedHost && registered.uri.withoutPort == requested.uri.withoutPort
    }

    /// Returns true if a registered URI matches requests with any port.
    ///
    /// The loopback URI of a native client does (RFC 8252 §7.3), because the client opens a free port at each start.
    /// The port of a development server is fixed, so a development redirect URI with a port matches only this port.
    static func hasFreePort(_ registered: RedirectURI, of type: ClientType) -> Bool {
        guard case .loopback(_, let port) = registered.kind else { return false }
        return port == nil || !registered.isForDevelopment(of: type)
    }

    /// Returns true if a URI is at an origin of the server itself; all loopback host names count as the same host.
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
    /// A pair of matching URIs: the redirect URI for the response, and the registered redirect URI that it matches.
    package struct Match: Localized, Hashable {
        /// The redirect URI that gets the response.
        package let redirectURI: ResponseRedirectURI
        package let registered: RedirectURI
        /// Whether the registered URI is a development redirect URI.
        let isForDevelopment: Bool

        fileprivate init(redirectURI: ResponseRedirectURI, registered: RedirectURI, of type: ClientType) {
            self.redirectURI = redirectURI
            self.registered = registered
            isForDevelopment = registered.isForDevelopment(of: type)
        }

        /// The reason why the URIs match, for the developer of the client.
        package var text: LocalizedText {
            guard let requested = redirectURI.requested else {
                return LocalizedText("redirect-uri.left-out", ["uri": .text(registered.rawValue)])
            }
            guard requested.rawValue != registered.rawValue else { return LocalizedText("redirect-uri.preview.same") }
            let uri = ["uri": LocalizedText.Value.text(registered.rawValue)]
            return isForDevelopment
                ? LocalizedText("redirect-uri.preview.port-not-registered", uri)
                : LocalizedText("redirect-uri.preview.port-is-free", uri)
        }
    }

    /// The reasons why a request has no valid redirect URI.
    package enum Refusal: Error, Localized, Hashable, CustomStringConvertible {
        /// The `redirect_uri` is not a valid redirect URI.
        case malformed(RedirectURI.Refusal)
        /// No registered redirect URI matches the `redirect_uri`.
        case notRegistered
        /// The `redirect_uri` was omitted, and the client does not have exactly one redirect URI.
        case ambiguous
        /// The `redirect_uri` was omitted in a request for `openid` (OpenID Connect Core §3.1.2.1).
        case requiredByOpenID
        /// The `redirect_uri` was omitted, and the only registered one is a loopback URI without a port.
        case portUnknown
        /// The redirect URI is at an origin of this server.
        case ownOrigin
        /// The redirect URI is a development redirect URI, but the operator does not allow them
        /// (``ServerSettings/allowsDevelopmentRedirectURIs``).
        case developmentOff

        /// The message for the user.
        ///
        /// Of the requested URI, the message contains at most the scheme, and only a scheme that browsers handle.
        /// The message is therefore safe to show, even if an attacker has chosen the URI.
        package var text: LocalizedText {
            switch self {
            case .malformed(let refusal): LocalizedText("redirect-uri.unusable", ["why": .nested(refusal.text)])
            case .notRegistered: LocalizedText("redirect-uri.not-registered")
            case .ambiguous: LocalizedText("redirect-uri.ambiguous")
            case .requiredByOpenID: LocalizedText("redirect-uri.required-by-openid")
            case .portUnknown: LocalizedText("redirect-uri.port-unknown")
            case .ownOrigin: LocalizedText("redirect-uri.own-origin-requested")
            case .developmentOff: LocalizedText("redirect-uri.development-off-requested")
            }
        }

        /// Returns the registered redirect URI that is most similar to the refused one, for the developer of the
        /// client; nil if a comparison explains nothing.
        package func nearest(to requested: String, of client: RegisteredClient) -> RedirectURIPreview.Nearest? {
            switch self {
            case .notRegistered, .malformed: RedirectURIPreview.nearest(to: requested, of: client)
            // The URI was omitted, or it matches a registered one.
            case .ambiguous, .requiredByOpenID, .portUnknown, .ownOrigin, .developmentOff: nil
            }
        }
    }
}
