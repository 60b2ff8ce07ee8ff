public import CounterfoilProtocol
import CounterfoilTokens
import Foundation

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
    /// `resource`: the APIs for which the token is requested (RFC 8707 §2); an empty list omits the parameter.
    public var resources: [Resource] = []
    /// The client authentication at the device authorization and token endpoints.
    public var authentication = ClientAuthentication.none
    /// Whether the tokens are bound to a DPoP key that the sign-in generates (RFC 9449).
    public var bindsTokens = false
    /// Whether to keep a refresh token that the server issues; if false, the client discards it and never stores it.
    public var keepsRefreshToken = true
    /// The server with its vendor profile, for a server that deviates from the standard.
    ///
    /// If it is nil, the client fetches the metadata of ``issuer``.
    public var vendor: VendorServer?
    /// The maximum time to wait for the user; the user code can expire earlier.
    public var timeout = Duration.seconds(900)
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

    /// Requests a user code, passes it to `show`, and waits until the user has finished.
    ///
    /// `identified` receives the client identifier at the server, and the way in which the client obtained it.
    public func run(
        identified: @escaping @Sendable (ClientIdentifier, ClientIdentification.Origin) -> Void = { _, _ in },
        show: @escaping @Sendable (Instructions) async -> Void
    ) async throws(SignInError) -> Credentials {
        let server: AuthorizationServerConfiguration
        if let vendor {
            server = try await vendor.configuration(transport: transport)
        } else {
            // Skip the metadata check for PKCE, because this grant sends no authorization code to a redirect URI.
            server = try await MetadataDiscovery(transport: transport)
                .configuration(of: issuer, skippingPKCEMetadataCheck: true)
        }
        guard let endpoint = server.deviceAuthorizationEndpoint else {
            throw .unusable("\(server.issuer) does not support sign-in on another device; use a browser on this one")
        }
        let known = try await client.client(
            at: server, authentication: authentication, redirectURIs: [],
            grantTypes: [Self.grantType, "refresh_token"], scope: scope, through: transport)
        identified(known.id, known.origin)
        do throws(SignInError) {
            return try await credentials(of: known, from: endpoint, at: server, show: show)
        } catch {
            // A timeout occurs only after the server has issued a user code. The server therefore knows the client,
            // so keep a stored registration.
            if error != .timedOut { await client.forget(known, at: issuer, after: error) }
            throw error
        }
    }

    private static let grantType = "urn:ietf:params:oauth:grant-type:device_code"

    private func credentials(
        of known: IdentifiedClient, from endpoint: EndpointURL, at server: AuthorizationServerConfiguration,
        show: @escaping @Sendable (Instructions) async -> Void
    ) async throws(SignInError) -> Credentials {
        let prover = bindsTokens ? DPoPProver(ProofKey()) : nil
        let device = try await authorization(of: known, at: endpoint, of: server)
        await show(device.instructions)
        let tokens = TokenEndpointClient(
            server: server, clientID: known.id, authentication: known.authentication, prover: prover,
            transport: transport)
        let (issued, issuingServer) = try await wait(for: device, at: tokens)
        return try await credentials(of: known, from: issued, at: issuingServer, prover: prover)
    }

    /// Polls the token endpoint until the user has finished (RFC 8628 §3.5).
    ///
    /// Returns the tokens and the server that issued them, which can be another server of the vendor.
    private func wait(
        for device: DeviceAuthorization, at beginning: TokenEndpointClient
    ) async throws(SignInError) -> (TokenEndpointClient.IssuedTokens, AuthorizationServerConfiguration) {
        var endpoint = beginning
        var request = FormParameters([
            "grant_type": Self.grantType, "device_code": device.code.exposed,
        ])
        for resource in resources { request.append("resource", resource.rawValue) }
        var interval = device.interval
        let deadline = ContinuousClock.now + min(device.instructions.lifetime, timeout)
        while true {
            guard ContinuousClock.now + interval < deadline else { throw .timedOut }
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
                switch error {
                case .refused(let refusal) where refusal.code == .authorizationPending: continue
                case .refused(let refusal) where refusal.code == .slowDown: interval += .seconds(5)
                case .refused(let refusal) where refusal.code == .expiredToken: throw .timedOut
                case .unavailable(let failure):
                    // RFC 8628 §3.5: back off exponentially after a failed request.
                    interval = min(max(interval * 2, failure.retryAfter ?? .zero), .seconds(300))
                default: throw error
                }
            }
        }
    }

    private func credentials(
        of known: IdentifiedClient, from issued: TokenEndpointClient.IssuedTokens,
        at server: AuthorizationServerConfiguration,
        prover: DPoPProver?
    ) async throws(SignInError) -> Credentials {
        var user: Credentials.User?
        if scope.contains(.openID) {
            guard let idToken = issued.tokens.idToken else { throw .unsafe(.tokenResponse(.noIDToken)) }
            user = Credentials.User(
                try await IDTokenCheck(transport: transport).verifyWithoutRequest(
                    idToken, of: server, clientID: known.id, accessToken: issued.tokens.accessToken,
                    at: issued.serverTime(at: issued.received)
                ))
        }
        return Credentials(
            issuer: server.issuer, clientID: known.id, scope: issued.tokens.scope ?? scope,
            accessToken: issued.tokens.accessToken,
            expires: issued.tokens.expiresIn.map { issued.received.addingTimeInterval(Double($0)) }, user: user,
            refreshToken: keepsRefreshToken ? issued.tokens.refreshToken : nil,
            idToken: user == nil ? nil : issued.tokens.idToken,
            resources: resources, details: issued.details.merging(server.place) { $1 },
            authentication: known.authentication, server: server.vendor,
            proofKey: prover?.key)
    }

    private func authorization(
        of known: IdentifiedClient, at endpoint: EndpointURL, of server: AuthorizationServerConfiguration
    ) async throws(SignInError) -> DeviceAuthorization {
        var form = FormParameters()
        if !scope.isEmpty {
            form.append("scope", scope.description.replacing(" ", with: server.behavior.scopeSeparator))
        }
        for resource in resources { form.append("resource", resource.rawValue) }
        let body = try await EndpointRequest(form: form, of: known.id, by: known.authentication, at: server.issuer)
            .send(to: endpoint, through: transport)
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
        if case .integer(let number) = members["interval"] { seconds = min(max(number, 1), 300) }
        self.code = code
        interval = .seconds(seconds)
        instructions = DeviceSignIn.Instructions(
            verificationURI: verificationURI, verificationURIComplete: complete,
            userCode: userCode.strippingControlCharacters,
            lifetime: .seconds(lifetime))
    }
}
