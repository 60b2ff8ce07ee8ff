package import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes

/// The discovery of an issuer's metadata (RFC 8414 §3, OpenID Connect Discovery §4).
package struct MetadataDiscovery: Sendable {
    private let transport: any HTTPTransport
    private let cache: MetadataCache?

    /// Creates a discovery that uses the cache of this process if `transport` is the standard transport.
    package init(transport: any HTTPTransport) {
        self.init(transport: transport, cache: MetadataCache.ofThisProcess(for: transport))
    }

    package init(transport: any HTTPTransport, cache: MetadataCache?) {
        self.transport = transport
        self.cache = cache
    }

    /// Fetches and validates the metadata of an issuer, or takes them from the cache.
    ///
    /// With `forOpenID`, the function starts with the URL of OpenID Connect Discovery, and otherwise with that of
    /// RFC 8414. It then tries the other URLs, because servers exist that answer unknown paths with a page, a redirect
    /// or an error. If the first document lacks a member that a sign-in needs, the function adds the missing members
    /// from the document of the other standard. Both documents must name the requested issuer.
    package func configuration(
        of issuer: Issuer,
        forOpenID: Bool = false,
        skippingPKCEMetadataCheck: Bool = false,
        behavior: ServerBehavior = .standard
    ) async throws(SignInError) -> AuthorizationServerConfiguration {
        let metadata = try await metadata(of: issuer, forOpenID: forOpenID)
        do {
            return try AuthorizationServerConfiguration(
                metadata, of: issuer, skippingPKCEMetadataCheck: skippingPKCEMetadataCheck, behavior: behavior)
        } catch {
            throw .unsafe(.metadata(error))
        }
    }

    /// Returns the configuration of the server of a vendor profile; if there is none, that of an issuer.
    ///
    /// The check for PKCE is skipped unless the caller sends an authorization code to a redirect URI.
    func configuration(
        of issuer: Issuer, or vendor: VendorServer?, forOpenID: Bool = false, skippingPKCEMetadataCheck: Bool = true
    ) async throws(SignInError) -> AuthorizationServerConfiguration {
        if let vendor { return try await vendor.configuration(transport: transport) }
        return try await configuration(
            of: issuer, forOpenID: forOpenID, skippingPKCEMetadataCheck: skippingPKCEMetadataCheck)
    }

    private func metadata(
        of issuer: Issuer, forOpenID: Bool
    ) async throws(SignInError) -> AuthorizationServerMetadata {
        if let known = cache?.metadata(of: issuer, forOpenID: forOpenID) { return known }
        do throws(SignInError) {
            let found = try await search(for: issuer, forOpenID: forOpenID)
            cache?.keep(found.metadata, of: issuer, forOpenID: forOpenID, for: found.lifetime)
            return found.metadata
        } catch {
            // A server that cannot serve its metadata for a moment may still serve its other endpoints.
            guard case .unavailable = error, let former = cache?.staleMetadata(of: issuer, forOpenID: forOpenID) else {
                throw error
            }
            return former
        }
    }

    private struct Found {
        var metadata: AuthorizationServerMetadata
        /// The time for which the document may be cached; zero if the server forbids that.
        var lifetime: Duration
    }

    /// Asks the metadata URLs in order until a document names the issuer and has the members that are needed.
    ///
    /// The URL that had a document last time comes first, until it has none.
    private func search(for issuer: Issuer, forOpenID: Bool) async throws(SignInError) -> Found {
        var candidates = issuer.metadataCandidates(forOpenID: forOpenID)
        let remembered = cache?.metadataURL(of: issuer, forOpenID: forOpenID)
        if let index = candidates.firstIndex(where: { $0.url == remembered }) {
            candidates.insert(candidates.remove(at: index), at: 0)
        }
        var failure: SignInError?
        var found: (Found, isOpenID: Bool)?
        for candidate in candidates {
            if let first = found, first.isOpenID == candidate.isOpenID { continue }
            let answer: Answer
            do throws(SignInError) { answer = try await self.answer(at: candidate.url, issuer) } catch {
                // The second document only adds members that the first one lacks.
                if let found { return found.0 }
                throw error
            }
            switch answer {
            case .document(let other):
                guard var first = found?.0 else {
                    found = (other, candidate.isOpenID)
                    // After a temporary failure of a URL, the next search starts there again.
                    if failure?.isTemporary != true {
                        cache?.keep(metadataURL: candidate.url, of: issuer, forOpenID: forOpenID)
                    }
                    if !other.metadata.lacksMembers(forOpenID: forOpenID) { return other }
                    continue
                }
                first.metadata.adoptMissingMembers(of: other.metadata)
                first.lifetime = min(first.lifetime, other.lifetime)
                return first
            case .failure(let other):
                if found == nil { failure = Self.moreTelling(failure, other) }
                if candidate.url == remembered, !other.isTemporary {
                    cache?.keep(metadataURL: nil, of: issuer, forOpenID: forOpenID)
                }
            case .absent:
                if candidate.url == remembered { cache?.keep(metadataURL: nil, of: issuer, forOpenID: forOpenID) }
            }
        }
        if let found { return found.0 }
        throw failure
            ?? .unusable(
                "\(issuer) publishes no metadata; check that the issuer is written exactly as the server names it")
    }

    private enum Answer {
        case document(Found)
        /// The URL has no metadata.
        case absent
        /// The response is not usable; another URL may have a usable one.
        case failure(SignInError)
    }

    /// Asks one URL; throws only if the other URLs would fail in the same way.
    private func answer(at url: String, _ issuer: Issuer) async throws(SignInError) -> Answer {
        let endpoint: EndpointURL
        do { endpoint = try EndpointURL(url) } catch { throw .unusable("the issuer cannot be used: \(error)") }
        let response: TransportResponse
        do {
            response = try await transport.send(
                TransportRequest(endpoint, headerFields: [.accept: "application/json"]))
        } catch {
            if case .tooLarge = error { return .failure(SignInError(error)) }
            throw SignInError(error)
        }
        let status = response.statusCode
        switch status {
        case 200: break
        case 300..<400: return .failure(.unsafe(.redirected(origin: endpoint.origin)))
        case 429: throw .unavailable(.status(status, origin: endpoint.origin, retryAfter: response.retryAfter))
        case 400..<500: return .absent
        case 500..<600:
            return .failure(.unavailable(.status(status, origin: endpoint.origin, retryAfter: response.retryAfter)))
        default: return .failure(.unsafe(.metadata(.unreadable)))
        }
        // First reject JSON in which two members have the same name, because parsers differ in which of the two
        // they use.
        guard (try? JSONReader.object(response.body)) != nil,
            let metadata = try? AuthorizationServerMetadata(parsing: response.body)
        else { return .failure(.unsafe(.metadata(.unreadable))) }
        // RFC 8414 §3.3: the metadata of another issuer must not be used.
        guard metadata.issuer.utf8.elementsEqual(issuer.rawValue.utf8) else {
            return .failure(.unsafe(.metadata(.wrongIssuer(named: metadata.issuer, requested: issuer))))
        }
        return .document(Found(metadata: metadata, lifetime: MetadataCache.lifetime(of: response)))
    }

    /// Returns the failure that says more about the server.
    ///
    /// A temporary failure comes first, because a retry may find the metadata. The name of another issuer comes next,
    /// because the user can compare it.
    private static func moreTelling(_ first: SignInError?, _ second: SignInError) -> SignInError {
        func rank(_ error: SignInError) -> Int {
            switch error {
            case .unavailable: 0
            case .unsafe(.metadata(.wrongIssuer)): 1
            default: 2
            }
        }
        guard let first else { return second }
        return rank(second) < rank(first) ? second : first
    }
}

extension SignInError {
    fileprivate var isTemporary: Bool {
        if case .unavailable = self { true } else { false }
    }
}

extension Issuer {
    /// The metadata URLs, in the order in which the client tries them.
    ///
    /// With `forOpenID`, the URL of OpenID Connect Discovery §4 comes first. Otherwise that of RFC 8414 §3.1 does.
    package func metadataCandidates(forOpenID: Bool) -> [(url: String, isOpenID: Bool)] {
        let candidates = metadataURLs.map { (url: $0, isOpenID: $0.contains("/.well-known/openid-configuration")) }
        return forOpenID ? candidates.reversed() : candidates
    }
}

extension AuthorizationServerMetadata {
    /// Returns true if the document lacks a member that a sign-in or a sign-out needs.
    fileprivate func lacksMembers(forOpenID: Bool) -> Bool {
        if authorizationEndpoint == nil || tokenEndpoint == nil || codeChallengeMethodsSupported == nil { return true }
        let openID = [jwksURI, userInfoEndpoint, endSessionEndpoint, revocationEndpoint]
        return forOpenID && openID.contains(nil)
    }

    /// Adds the members of another document of the same issuer that this document lacks.
    fileprivate mutating func adoptMissingMembers(of other: AuthorizationServerMetadata) {
        func adopt<Value>(_ members: WritableKeyPath<AuthorizationServerMetadata, Value?>...) {
            for member in members where self[keyPath: member] == nil { self[keyPath: member] = other[keyPath: member] }
        }
        adopt(
            \.authorizationEndpoint, \.tokenEndpoint, \.jwksURI, \.userInfoEndpoint, \.revocationEndpoint,
            \.introspectionEndpoint, \.endSessionEndpoint, \.pushedAuthorizationRequestEndpoint,
            \.deviceAuthorizationEndpoint, \.registrationEndpoint)
        adopt(
            \.scopesSupported, \.responseTypesSupported, \.grantTypesSupported, \.tokenEndpointAuthMethodsSupported,
            \.tokenEndpointAuthSigningAlgValuesSupported, \.codeChallengeMethodsSupported,
            \.idTokenSigningAlgValuesSupported, \.acrValuesSupported, \.promptValuesSupported,
            \.dpopSigningAlgValuesSupported)
        adopt(
            \.authorizationResponseIssParameterSupported, \.requirePushedAuthorizationRequests,
            \.clientIDMetadataDocumentSupported, \.offlineAccessPromptRequired)
    }
}
