import CounterfoilPlatform
public import CounterfoilProtocol

/// A sign-in of a service, which is a program without a user: the client credentials grant.
///
///     let key = try ClientKey(contentsOf: URL(fileURLWithPath: "/etc/nightly-job/key.pem"))
///     let signIn = try ServiceSignIn(
///         issuer: "https://id.example.com", clientID: "nightly-job", authentication: .privateKey(key),
///         scope: "photos.read", apiOrigins: ["https://photos.example.com"])
///     let photos = try await ServiceSession(signIn).get("https://photos.example.com/photos")
///
/// RFC 6749 §4.4. The credentials have no user, no ID token and no refresh token: the service authenticates again for
/// each new access token.
public struct ServiceSignIn: Sendable {
    /// The issuer of the authorization server; the client fetches its metadata unless ``vendor`` is set.
    public var issuer: Issuer
    /// `client_id`: the identifier of the service at the server.
    public var clientID: ClientIdentifier
    /// The client authentication at the token endpoint, which must not be ``ClientAuthentication/none``.
    public var authentication: ClientAuthentication
    /// The requested scope; an empty scope requests the server's default.
    public var scope: Scope
    /// `resource`: the APIs for which the token is requested (RFC 8707 §2); an empty list omits the parameter.
    public var resources: [Resource] = []
    /// The origins of the APIs to which the token may be sent, in addition to those of ``resources``.
    ///
    /// The request does not contain them. If both are empty, the token may be sent only to the origin of the issuer.
    public var apiOrigins: Set<APIOrigin> = []
    /// Further parameters of the token request, such as `audience`.
    ///
    /// The sign-in fails with ``SignInError/unusable(_:)`` if the name of one is a parameter that the client sets
    /// itself.
    public var tokenParameters: [String: String] = [:]
    /// The names of further members of the token response to keep in ``Credentials/details``; see
    /// ``NativeSignIn/Options/details``.
    public var details: Set<String> = []
    /// Whether the token is bound to a key that each sign-in generates (RFC 9449).
    public var bindsTokens = false
    /// The server with its vendor profile, for a server that deviates from the standard.
    ///
    /// If it is nil, the client fetches the metadata of ``issuer``.
    public var vendor: VendorServer?
    /// The HTTP client for all requests of the sign-in.
    public var transport: any HTTPTransport = .standard

    /// A function that receives the names of optional members of a token response that count as absent, because their
    /// values are not valid (RFC 6749 §5.1).
    public var onMembersIgnored: @Sendable ([String]) -> Void = { _ in }

    /// The maximum time to wait for another process that requests a token of the same profile.
    private static let lockTimeout = Duration.seconds(90)

    /// Prepares a sign-in of a service that is registered at the server.
    public init(
        issuer: Issuer, clientID: ClientIdentifier, authentication: ClientAuthentication, scope: Scope = Scope()
    ) {
        self.issuer = issuer
        self.clientID = clientID
        self.authentication = authentication
        self.scope = scope
    }

    /// Prepares a sign-in from strings; throws ``SignInError/unusable(_:)`` if one of them is invalid.
    ///
    /// `apiOrigins` are the origins of the APIs to which the token may be sent, such as `https://photos.example.com`.
    public init(
        issuer: String, clientID: String, authentication: ClientAuthentication, scope: String = "",
        apiOrigins: [String] = []
    ) throws(SignInError) {
        let texts = try NativeSignIn(issuer: issuer, clientID: clientID, scope: scope, apiOrigins: apiOrigins)
        guard let id = ClientIdentifier(clientID) else {
            throw .unusable("the client ID is empty or contains invalid characters")
        }
        self.init(issuer: texts.issuer, clientID: id, authentication: authentication, scope: texts.scope)
        self.apiOrigins = texts.options.apiOrigins
    }

    /// Prepares the sign-in again from which some credentials came; nil if they are those of a user.
    public init?(repeating credentials: Credentials) {
        guard credentials.isOfService else { return nil }
        self.init(
            issuer: credentials.issuer, clientID: credentials.clientID, authentication: credentials.authentication,
            scope: credentials.scope)
        resources = credentials.resources
        apiOrigins = credentials.apiOrigins
        tokenParameters = credentials.tokenParameters
        details = credentials.detailNames
        bindsTokens = credentials.proofKey != nil
        vendor = credentials.server
    }

    /// Requests an access token.
    ///
    /// ``SignInError/refused(_:)`` with `invalid_client` means that the server does not accept the authentication, and
    /// with `unauthorized_client` that the service may not use this grant. A refresh token in the response is discarded
    /// (RFC 6749 §4.4.3).
    public func run() async throws(SignInError) -> Credentials {
        try await run(boundTo: bindsTokens ? ProofKey() : nil)
    }

    private func run(boundTo key: ProofKey?) async throws(SignInError) -> Credentials {
        guard authentication != .none else {
            throw .unusable("a service needs a client secret or a private key to sign in without a user")
        }
        try ServerBehavior.check(tokenParameters: tokenParameters, details: details)
        let server = try await MetadataDiscovery(transport: transport).configuration(of: issuer, or: vendor)
        let prover = key.map { DPoPProver($0) }
        let request = TokenRequest.ClientCredentials(scope: scope.isEmpty ? nil : scope, resources: resources)
        let issued = try await TokenEndpointClient(
            server: server.adding(tokenParameters: tokenParameters, details: details), clientID: clientID,
            authentication: authentication, prover: prover, transport: transport
        ).tokens(for: .clientCredentials(request))
        if !issued.ignored.isEmpty { onMembersIgnored(issued.ignored) }
        var credentials = issued.credentials(
            of: clientID, at: server, scope: scope, resources: resources, key: prover?.key,
            time: issued.time(at: issued.received))
        credentials.refreshToken = nil
        credentials.apiOrigins = apiOrigins
        credentials.tokenParameters = tokenParameters
        credentials.detailNames = details
        credentials.isOfService = true
        return credentials
    }

    /// Returns the stored credentials of the service, and signs in first if there are none or if they expire too soon.
    ///
    /// This is for programs that run often and end soon. Other programs use a ``ServiceSession``, which stores nothing.
    /// If several processes need a new access token at once, one of them requests it, and the others use it or report
    /// its failure. No process sends a request before the end of `Retry-After`. A token that is valid for more than two
    /// seconds is returned if a new one is not there within a moment, unless `seconds` is higher than 10.
    ///
    /// - Parameters:
    ///   - store: The store of the credentials, which contain the secret or private key of the service, too.
    ///   - profile: The name under which the credentials are stored.
    ///   - seconds: The minimum lifetime of a stored access token; the server determines that of a new one.
    /// - Throws: ``SignInError`` or ``TokenStoreError``; ``SignInError/unusable(_:)`` if the profile contains the
    ///   credentials of a user or of another client.
    public func credentials(
        in store: any TokenStore, profile: ProfileName = .standard, minimumLifetime seconds: Int = 10
    ) async throws -> Credentials {
        try await credentials(in: store, profile: profile, minimumLifetime: seconds, for: nil)
    }

    /// Returns stored credentials as above, with an access token for a part of the stored sign-in.
    ///
    /// It is requested with `resource` and `scope`, and stored with the sign-in.
    ///
    /// - Throws: ``SessionError/targetRefused(_:)`` if the sign-in does not contain the part, or if the server refuses
    ///   it.
    package func credentials(
        in store: any TokenStore, profile: ProfileName, minimumLifetime seconds: Int, for target: AccessTarget?
    ) async throws -> Credentials {
        let start = Date()
        let stored = try await store.credentials(of: profile)
        if let usable = try usable(stored, for: seconds, target) { return usable }
        let valid = seconds <= Self.earlyRenewal ? try usable(stored, for: 2, target) : nil
        guard let valid else { return try await renewed(in: store, profile, target, for: seconds, since: start) }
        var hurried = self
        hurried.transport = DeadlineTransport(
            transport: transport, limit: Self.patience, deadline: .now + Self.patience)
        do {
            return try await hurried.renewed(in: store, profile, target, for: seconds, since: start, isHurried: true)
        } catch { return valid }
    }

    /// The lifetime below which a token is renewed although it is still valid, in seconds.
    private static let earlyRenewal = 10

    /// The maximum time for which a token that is still valid is held back by its renewal.
    private static let patience = Duration.milliseconds(300)

    /// Requests an access token and stores it, unless another process has done so or has just failed to.
    ///
    /// With `isHurried`, it neither waits for another process nor leaves a failure to receive a response.
    private func renewed(
        in store: any TokenStore, _ profile: ProfileName, _ target: AccessTarget?, for seconds: Int, since start: Date,
        isHurried: Bool = false
    ) async throws -> Credentials {
        let lock = try await store.refreshLock(of: profile, within: isHurried ? .zero : Self.lockTimeout)
        // Another process may have requested a token in the meantime.
        let before = try await store.record(of: profile)
        if let usable = try usable(before?.credentials, for: seconds, target) { return usable }
        if let kept = before?.credentials, !kept.isOfService || kept.issuer != issuer || kept.clientID != clientID {
            throw SignInError.unusable(
                "the profile \(profile) contains a sign-in of the client \(kept.clientID) at \(kept.issuer); use another"
                    + " profile, or sign out first")
        }
        // A token that cannot be stored would be lost.
        try await store.checkWritable(profile)
        let name = "\(clientID) at \(issuer)"
        if let failure = await store.refreshFailure(of: profile), failure.concerns(service: name) {
            if failure.happened(after: start, at: Date()) { throw failure.cause }
            // RFC 9110 §10.2.3
            if let seconds = failure.pause(at: Date()) {
                throw SignInError.unavailable(.reported("the server asks to wait \(seconds) s before the next attempt"))
            }
        }
        let part = try before?.credentials.part(target)
        let fresh: Credentials
        do throws(SignInError) {
            fresh =
                if let part, let before { try await adding(part, to: before.credentials) } else {
                    try await renewing(before?.credentials)
                }
        } catch {
            if let part, let before, error.concernsTarget {
                _ = try? await store.replace(before, with: before.credentials.refusing(part), in: profile)
            }
            if part != nil, let refusal = error.refusedTarget { throw SessionError.targetRefused(.server(refusal)) }
            // An attempt that waits for a moment only does not show that the server is unavailable.
            if case .unavailable(.noResponse) = error, isHurried { throw error }
            lock.leave(RefreshFailure(error, ofService: name, by: authentication, at: Date()))
            throw error
        }
        lock.leave(nil)
        let issued = fresh.cached(for: part) ?? fresh
        do {
            if let before {
                // If the profile was signed in or out in the meantime, the store keeps that.
                _ = try await store.replace(before, with: fresh, in: profile)
            } else {
                try await store.save(fresh, as: profile)
            }
        } catch {
            _ = try? await TokenRevocation(transport: transport).revoke(issued)
            throw error
        }
        lock.release()
        return issued
    }

    /// Requests an access token for a part of a stored sign-in, and returns the credentials with it in their cache.
    private func adding(
        _ part: AccessTarget, to stored: Credentials
    ) async throws(SignInError) -> Credentials {
        var narrower = self
        narrower.resources = stored.resources(of: part)
        narrower.scope = part.scope ?? scope
        let issued = try await narrower.run(boundTo: stored.proofKey)
        try stored.check(issued, isOnlyFor: part)
        return stored.caching(issued, for: part, at: Date())
    }

    /// Requests an access token for the whole sign-in; the stored ones for its parts stay valid.
    private func renewing(_ stored: Credentials?) async throws(SignInError) -> Credentials {
        var fresh = try await run()
        // Each sign-in has its own key, to which its tokens are bound (RFC 9449 §5).
        guard let stored, repeats(stored), fresh.proofKey == stored.proofKey else { return fresh }
        let now = Date()
        fresh.narrowed = stored.narrowed.filter { token in token.expires.map { $0 > now } ?? true }
        return fresh
    }

    /// Returns whether stored credentials come from this sign-in.
    private func repeats(_ kept: Credentials) -> Bool {
        kept.isOfService && kept.issuer == issuer && kept.clientID == clientID && kept.resources == resources
            && (scope.isEmpty || kept.scope == scope) && (kept.proofKey != nil) == bindsTokens
            && kept.apiOrigins == apiOrigins && kept.tokenParameters == tokenParameters && kept.detailNames == details
    }

    /// Returns the stored credentials for a target if they come from this sign-in and live long enough.
    private func usable(
        _ kept: Credentials?, for seconds: Int, _ target: AccessTarget?
    ) throws(SessionError) -> Credentials? {
        guard let kept, repeats(kept), let usable = kept.cached(for: try kept.part(target)),
            !usable.isExpired(early: seconds)
        else { return nil }
        return usable
    }
}
