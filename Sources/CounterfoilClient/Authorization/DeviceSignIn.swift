import CounterfoilPlatform
@_spi(Counterfoil) public import CounterfoilProtocol
import CounterfoilTokens

/// A sign-in for a device without a browser, in which the user signs in on another device (RFC 8628).
///
/// The user opens a URL on any device and enters a short code. Meanwhile this device polls the token
/// endpoint, never faster than the server allows (RFC 8628 §3.5).
///
/// ```swift
/// let signIn = try DeviceSignIn(
///     issuer: "https://id.example.com", clientID: "lightbox", scope: "openid photos.read",
///     apiOrigins: ["https://photos.example.com"])
/// let credentials = try await signIn.run { print("Open \($0.verificationURI) and enter \($0.userCode).") }
/// ```
///
/// A program that has a browser on some devices only uses ``NativeSignIn/runWithDeviceFallback(onEvent:show:)``.
public struct DeviceSignIn: Sendable {
    /// The issuer of the authorization server; the client fetches its metadata unless ``vendor`` is set.
    public var issuer: Issuer
    /// The `client_id` that the client has at each server, and the ways to obtain one at a new server.
    public var client: ClientIdentification
    /// The requested scope; an empty scope requests the server's default.
    public var scope: Scope
    /// Optional request parameters, client authentication and token binding.
    ///
    /// The options that belong to the authorization endpoint alone have no effect, such as `prompt` and `loginHint`.
    public var options = NativeSignIn.Options()
    /// The server with its vendor profile, for a server that deviates from the standard.
    ///
    /// If it is nil, the client fetches the metadata of ``issuer``.
    public var vendor: VendorServer?
    /// The maximum time to wait for the user; nil means until the code expires, which can be earlier in any case.
    public var timeout: Duration?
    /// The HTTP client for all requests of the sign-in.
    public var transport: any HTTPTransport = .standard
    /// The function that waits between two polls.
    package var pause: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    /// The URL and the user code to show to the user, with the lifetime of the code.
    public struct Instructions: Sendable, Hashable {
        /// `verification_uri`: the URL that the user opens on any device.
        public let verificationURI: BrowserURL
        /// `verification_uri_complete`: the URL that contains the code, for a QR code; nil if the server sends none.
        public let verificationURIComplete: BrowserURL?
        /// `user_code`: the code that the user enters, without control characters.
        public let userCode: String
        /// `expires_in`: the time until the user code expires.
        public let lifetime: Duration
    }

    /// Prepares a sign-in for a client that is registered at the server.
    public init(issuer: Issuer, clientID: ClientIdentifier, scope: Scope = Scope()) {
        self.init(issuer: issuer, client: ClientIdentification(clientID, at: issuer), scope: scope)
    }

    /// Prepares a sign-in for a client that may have to obtain an identifier from the server first.
    public init(issuer: Issuer, client: ClientIdentification, scope: Scope = Scope()) {
        self.issuer = issuer
        self.client = client
        self.scope = scope
    }

    /// Prepares a sign-in at a vendor's server; an empty scope requests the default scope of the profile.
    public init(at vendor: VendorServer, clientID: ClientIdentifier, scope: Scope = Scope()) {
        self.init(at: vendor, client: ClientIdentification(clientID, at: vendor.issuer), scope: scope)
    }

    /// Prepares a sign-in at a vendor's server for a client that may have to obtain an identifier first.
    public init(at vendor: VendorServer, client: ClientIdentification, scope: Scope = Scope()) {
        self.init(NativeSignIn(at: vendor, client: client, scope: scope))
    }

    /// Prepares a sign-in from strings; throws ``SignInError/unusable(_:)`` if one of them is invalid.
    ///
    /// `apiOrigins` are the origins of the APIs to which the token may be sent, such as `https://photos.example.com`;
    /// see ``NativeSignIn/Options/apiOrigins``.
    public init(
        issuer: String, clientID: String, scope: String = "", apiOrigins: [String] = []
    ) throws(SignInError) {
        self.init(try NativeSignIn(issuer: issuer, clientID: clientID, scope: scope, apiOrigins: apiOrigins))
    }

    /// Prepares the sign-in on another device that corresponds to a sign-in in the browser.
    ///
    /// Its ``timeout`` is nil, because a user needs more time for another device.
    public init(_ signIn: NativeSignIn) {
        self.init(issuer: signIn.issuer, client: signIn.client, scope: signIn.scope)
        options = signIn.options
        vendor = signIn.vendor
        transport = signIn.transport
    }

    /// Requests a user code, passes it to `show`, and waits until the user has finished.
    ///
    /// The events are ``NativeSignIn/Event/discovered(_:)``, ``NativeSignIn/Event/identified(_:_:)``,
    /// ``NativeSignIn/Event/membersIgnored(_:)`` and ``NativeSignIn/Event/exchanged``. If the server has forgotten an
    /// earlier registration of the client, the function registers the client again, once, and calls `show` with a new
    /// code.
    public func run(
        onEvent report: @escaping @Sendable (NativeSignIn.Event) -> Void = { _ in },
        show: @escaping @Sendable (Instructions) async -> Void
    ) async throws(SignInError) -> Credentials {
        try ServerBehavior.check(tokenParameters: options.tokenParameters, details: options.details)
        let server = try await configuration()
            .adding(tokenParameters: options.tokenParameters, details: options.details)
        guard let endpoint = server.deviceAuthorizationEndpoint else {
            throw .unusable("\(server.issuer) does not support sign-in on another device; use a browser on this one")
        }
        try options.checkAdditionalParameters(at: server.behavior)
        try options.checkBinding(at: server)
        report(.discovered(server))
        let grant = Grant(server: server, endpoint: endpoint)
        return try await SignInAttempt.credentials { () async throws(SignInError) in
            try await attempt(grant, report, show)
        }
    }

    /// Returns the configuration of the server.
    func configuration() async throws(SignInError) -> AuthorizationServerConfiguration {
        try await MetadataDiscovery(transport: transport)
            .configuration(of: issuer, or: vendor, forOpenID: scope.contains(.openID))
    }

    private struct Grant: Sendable {
        let server: AuthorizationServerConfiguration
        let endpoint: EndpointURL
        /// The verifier of the code challenge (RFC 7636); some servers require PKCE of this grant too.
        let verifier = CodeVerifier(random: RandomBytes())
    }

    private func attempt(
        _ grant: Grant, _ report: @Sendable (NativeSignIn.Event) -> Void,
        _ show: @Sendable (Instructions) async -> Void
    ) async throws(SignInError) -> SignInAttempt {
        let known = try await client.client(
            at: grant.server, authentication: options.authentication, redirectURIs: [],
            grantTypes: [TokenRequest.DeviceCodeExchange.grantType]
                + (options.keepsRefreshToken ? ["refresh_token"] : []),
            scope: requestedScope, through: transport)
        report(.identified(known.id, known.origin))
        do throws(SignInError) {
            let credentials = try await credentials(of: known, from: grant, report, show: show)
            report(.exchanged)
            return .signedIn(credentials.completed(by: known, options, at: grant.server))
        } catch {
            if await client.forget(known, at: issuer, after: error) { return .forgotten(error) }
            throw error
        }
    }

    private var requestedScope: Scope { options.requestedScope(scope) }

    private func credentials(
        of known: IdentifiedClient, from grant: Grant, _ report: @Sendable (NativeSignIn.Event) -> Void,
        show: @Sendable (Instructions) async -> Void
    ) async throws(SignInError) -> Credentials {
        let prover = options.bindsTokens ? DPoPProver(ProofKey()) : nil
        let device = try await authorization(of: known, grant)
        // RFC 8628 §3.2: the lifetime of the code begins with the response, and not after the user has seen the code.
        let lifetime = min(device.instructions.lifetime, timeout ?? device.instructions.lifetime)
        let deadline = ContinuousClock.now + lifetime
        await show(device.instructions)
        let tokens = TokenEndpointClient(
            server: grant.server, clientID: known.id, authentication: known.authentication, prover: prover,
            transport: transport)
        let (issued, issuingServer) = try await wait(for: device, grant.verifier, until: deadline, at: tokens)
        if !issued.ignored.isEmpty { report(.membersIgnored(issued.ignored)) }
        return try await credentials(of: known, from: issued, at: issuingServer, prover: prover)
    }

    private func credentials(
        of known: IdentifiedClient, from issued: TokenEndpointClient.IssuedTokens,
        at server: AuthorizationServerConfiguration, prover: DPoPProver?
    ) async throws(SignInError) -> Credentials {
        let time = issued.time(at: issued.received)
        var user: Credentials.User?
        if scope.contains(.openID) {
            let idToken = try issued.requiredIDToken()
            let check = IDTokenCheck(transport: transport, trustedAudiences: options.trustedAudiences)
            user = Credentials.User(
                try await check.verifyWithoutRequest(
                    idToken, of: server, clientID: known.id, accessToken: issued.tokens.accessToken, at: time))
        }
        var credentials = issued.credentials(
            of: known.id, at: server, scope: requestedScope, resources: options.resources, user: user,
            key: prover?.key, time: time)
        if !options.keepsRefreshToken { credentials.refreshToken = nil }
        credentials.details.merge(server.place) { $1 }
        return credentials
    }

    private func authorization(
        of known: IdentifiedClient, _ grant: Grant
    ) async throws(SignInError) -> DeviceAuthorization {
        // RFC 8628 §3.1: some servers require `client_id` also of a client that authenticates by `client_secret_basic`.
        var form = FormParameters(["client_id": known.id.rawValue])
        if !requestedScope.isEmpty {
            let separator = grant.server.behavior.scopeSeparator
            form.append("scope", requestedScope.description.replacing(" ", with: separator))
        }
        for resource in options.resources { form.append("resource", resource.rawValue) }
        form.append("code_challenge", CodeChallenge(of: grant.verifier).rawValue)
        form.append("code_challenge_method", CodeChallenge.method)
        form.append("device_name", ifPresent: options.deviceName)
        for (name, value) in options.additionalParameters.sorted(by: { $0.key < $1.key }) { form.append(name, value) }
        let body = try await EndpointRequest(form: form, of: known.id, by: known.authentication, at: grant.server)
            .send(to: grant.endpoint, through: transport)
        guard let device = DeviceAuthorization(parsing: body) else { throw .unsafe(.deviceAuthorization) }
        return device
    }
}
