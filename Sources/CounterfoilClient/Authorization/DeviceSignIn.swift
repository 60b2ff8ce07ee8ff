public import CounterfoilProtocol
import CounterfoilTokens

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A sign-in for a device without a browser, in which the user signs in on another device (RFC 8628).
///
/// The user opens a URL on any device and enters a short code. Meanwhile this device polls the token
/// endpoint, never faster than the server allows (RFC 8628 §3.5).
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
    public init(at vendor: VendorServer, client: ClientIdentification, scope: Scope = Scope()) {
        let usual = scope.isEmpty ? try? Scope(lenient: vendor.profile.defaultScope) : nil
        self.init(issuer: vendor.issuer, client: client, scope: usual ?? scope)
        self.vendor = vendor
    }

    /// Prepares a sign-in from strings; throws ``SignInError/unusable(_:)`` if one of them is invalid.
    public init(issuer: String, clientID: String, scope: String = "") throws(SignInError) {
        let parsed = try NativeSignIn(issuer: issuer, clientID: clientID, scope: scope)
        self.init(issuer: parsed.issuer, client: parsed.client, scope: parsed.scope)
    }

    /// Requests a user code, passes it to `show`, and waits until the user has finished.
    ///
    /// `identified` receives the client identifier at the server, and the way in which the client obtained it. If the
    /// server has forgotten an earlier registration of the client, the function registers the client again, once.
    public func run(
        identified: @escaping @Sendable (ClientIdentifier, ClientIdentification.Origin) -> Void = { _, _ in },
        show: @escaping @Sendable (Instructions) async -> Void
    ) async throws(SignInError) -> Credentials {
        let server: AuthorizationServerConfiguration
        if let vendor {
            server = try await vendor.configuration(transport: transport)
        } else {
            // Skip the metadata check for PKCE, because this grant sends no authorization code to a redirect URI.
            server = try await MetadataDiscovery(transport: transport).configuration(
                of: issuer, forOpenID: scope.contains(.openID), skippingPKCEMetadataCheck: true)
        }
        guard let endpoint = server.deviceAuthorizationEndpoint else {
            throw .unusable("\(server.issuer) does not support sign-in on another device; use a browser on this one")
        }
        try options.checkAdditionalParameters(at: server.behavior)
        try options.checkBinding(at: server)
        let grant = Grant(server: server, endpoint: endpoint)
        switch try await attempt(grant, identified, show) {
        case .signedIn(let credentials): return credentials
        case .forgotten: break
        }
        switch try await attempt(grant, identified, show) {
        case .signedIn(let credentials): return credentials
        case .forgotten(let error): throw error
        }
    }

    private static let grantType = "urn:ietf:params:oauth:grant-type:device_code"

    private struct Grant: Sendable {
        let server: AuthorizationServerConfiguration
        let endpoint: EndpointURL
        /// The verifier of the code challenge (RFC 7636); some servers require PKCE of this grant too.
        let verifier = CodeVerifier(random: RandomBytes())
    }

    /// The result of one attempt.
    private enum Attempt: Sendable {
        case signedIn(Credentials)
        /// The server does not know a client that registered earlier; the stored registration is deleted.
        case forgotten(SignInError)
    }

    private func attempt(
        _ grant: Grant, _ identified: @Sendable (ClientIdentifier, ClientIdentification.Origin) -> Void,
        _ show: @Sendable (Instructions) async -> Void
    ) async throws(SignInError) -> Attempt {
        let known = try await client.client(
            at: grant.server, authentication: options.authentication, redirectURIs: [],
            grantTypes: options.keepsRefreshToken ? [Self.grantType, "refresh_token"] : [Self.grantType],
            scope: requestedScope, through: transport)
        identified(known.id, known.origin)
        do throws(SignInError) {
            let credentials = try await credentials(of: known, from: grant, show: show)
            return .signedIn(credentials.completed(by: known, options, at: grant.server))
        } catch {
            if await client.forget(known, at: issuer, after: error) { return .forgotten(error) }
            throw error
        }
    }

    private var requestedScope: Scope { options.requestedScope(scope) }

    private func credentials(
        of known: IdentifiedClient, from grant: Grant, show: @Sendable (Instructions) async -> Void
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
        return try await credentials(of: known, from: issued, at: issuingServer, prover: prover)
    }

    /// Polls the token endpoint until the user has finished (RFC 8628 §3.5).
    ///
    /// Returns the tokens and the server that issued them, which can be another server of the vendor.
    private func wait(
        for device: DeviceAuthorization, _ verifier: CodeVerifier, until deadline: ContinuousClock.Instant,
        at beginning: TokenEndpointClient
    ) async throws(SignInError) -> (TokenEndpointClient.IssuedTokens, AuthorizationServerConfiguration) {
        var endpoint = beginning
        var request = FormParameters([
            "grant_type": Self.grantType, "device_code": device.code.exposed, "code_verifier": verifier.exposed,
        ])
        for resource in options.resources { request.append("resource", resource.rawValue) }
        var interval = device.interval
        while true {
            guard ContinuousClock.now + interval < deadline else { throw .codeExpired }
            do { try await pause(interval) } catch { throw .cancelled }
            do throws(SignInError) {
                switch try await endpoint.outcome(of: request, isRefresh: false) {
                case .tokens(let issued): return (issued, endpoint.server)
                case .otherServer(let origin, let error):
                    let other = endpoint.server.relocated(to: origin)
                    // The server in the error is the current one, or the vendor profile does not list it. Another poll
                    // would fail with the same error.
                    guard other != endpoint.server else { throw SignInError(error) }
                    endpoint.server = other
                }
            } catch {
                interval = try Self.interval(after: error, interval)
            }
        }
    }

    /// Returns the interval before the next poll; throws if the error ends the polling (RFC 8628 §3.5).
    private static func interval(
        after error: SignInError, _ interval: Duration
    ) throws(SignInError) -> Duration {
        switch error {
        case .refused(let refusal) where refusal.code == .authorizationPending: return interval
        case .refused(let refusal) where refusal.code == .slowDown: return interval + .seconds(5)
        case .refused(let refusal) where refusal.code == .expiredToken: throw .codeExpired
        // Any other OAuth error ends the polling, also `server_error`. Only a request without an OAuth response is
        // repeated, with exponential backoff.
        case .unavailable(.error): throw error
        case .unavailable(let failure):
            return max(interval, min(interval * 2, longestBackoff), failure.retryAfter ?? .zero)
        default: throw error
        }
    }

    /// The limit of the exponential backoff; the interval of the server and `Retry-After` can be longer.
    private static let longestBackoff = Duration.seconds(300)

    private func credentials(
        of known: IdentifiedClient, from issued: TokenEndpointClient.IssuedTokens,
        at server: AuthorizationServerConfiguration,
        prover: DPoPProver?
    ) async throws(SignInError) -> Credentials {
        var user: Credentials.User?
        if scope.contains(.openID) {
            guard let idToken = issued.tokens.idToken else { throw .unsafe(.tokenResponse(.noIDToken)) }
            let check = IDTokenCheck(transport: transport, trustedAudiences: options.trustedAudiences)
            user = Credentials.User(
                try await check.verifyWithoutRequest(
                    idToken, of: server, clientID: known.id, accessToken: issued.tokens.accessToken,
                    at: issued.serverTime(at: issued.received)
                ))
        }
        return Credentials(
            issuer: server.issuer, clientID: known.id, scope: issued.tokens.scope ?? requestedScope,
            accessToken: issued.tokens.accessToken,
            expires: issued.tokens.expiresIn.map { issued.received.addingTimeInterval(Double($0)) }, user: user,
            refreshToken: options.keepsRefreshToken ? issued.tokens.refreshToken : nil,
            idToken: user == nil ? nil : issued.tokens.idToken,
            resources: options.resources, details: issued.details.merging(server.place) { $1 },
            authentication: issued.authentication, server: server.vendor,
            proofKey: prover?.key)
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
        for (name, value) in options.additionalParameters.sorted(by: { $0.key < $1.key }) { form.append(name, value) }
        let body = try await EndpointRequest(form: form, of: known.id, by: known.authentication, at: grant.server)
            .send(to: grant.endpoint, through: transport)
        guard let device = DeviceAuthorization(parsing: body) else { throw .unsafe(.deviceAuthorization) }
        return device
    }
}

/// `device_code`: the code with which the device polls (RFC 8628 §3.2).
struct DeviceCode: Secret {
    let exposed: String

    init?(_ text: String) {
        guard (1...4096).contains(text.utf8.count) else { return nil }
        exposed = text
    }
}

extension OAuthError.Code {
    /// `authorization_pending`: the user has not decided yet, so the device polls again (RFC 8628 §3.5).
    fileprivate static let authorizationPending = Self(rawValue: "authorization_pending")
    /// `slow_down`: the device polls again, at an interval that is 5 seconds longer (RFC 8628 §3.5).
    fileprivate static let slowDown = Self(rawValue: "slow_down")
    /// `expired_token`: the device code has expired, so the sign-in ends (RFC 8628 §3.5).
    fileprivate static let expiredToken = Self(rawValue: "expired_token")
}

/// A device authorization response (RFC 8628 §3.2).
struct DeviceAuthorization: Sendable {
    let code: DeviceCode
    let instructions: DeviceSignIn.Instructions
    let interval: Duration

    /// Parses a response; nil if it is malformed, or if `verification_uri` is not a valid ``BrowserURL``.
    init?(parsing body: [UInt8]) {
        guard let members = try? JSONReader.object(body),
            case .string(let code) = members["device_code"], let code = DeviceCode(code),
            case .string(let userCode) = members["user_code"], (1...64).contains(userCode.count),
            // Some servers send `verification_url`, the name of the member in an early draft of RFC 8628.
            case .string(let text) = members["verification_uri"] ?? members["verification_url"],
            let verificationURI = try? BrowserURL(text), case .integer(let lifetime) = members["expires_in"],
            (1...86400).contains(lifetime)
        else { return nil }
        var complete: BrowserURL?
        if case .string(let text) = members["verification_uri_complete"] { complete = try? BrowserURL(text) }
        var seconds: Int64 = 5
        if case .integer(let number) = members["interval"] { seconds = min(max(number, 1), lifetime) }
        self.code = code
        interval = .seconds(seconds)
        instructions = DeviceSignIn.Instructions(
            verificationURI: verificationURI, verificationURIComplete: complete,
            userCode: userCode.strippingControlCharacters,
            lifetime: .seconds(lifetime))
    }
}
