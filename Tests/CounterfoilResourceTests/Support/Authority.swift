@_spi(Counterfoil) import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilResource
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// A test authorization server for an API: metadata, keys and introspection over loopback HTTP, and signed tokens.
final class Authority: Sendable {
    /// The published data and the received requests.
    struct State {
        var signingKeys: [SigningKey]
        var status: HTTPResponse.Status = .ok
        var headers: HTTPFields = [:]
        var metadataIssuer: String?
        var jwksURI: String?
        var padding = 0
        var keyRequests = 0
        /// The introspection responses, keyed by token; all other tokens are inactive.
        var introspectionResponses: [String: String] = [:]
        var introspectionStatus: HTTPResponse.Status = .ok
        var introspectionHeaders: HTTPFields = [:]
        var metadataRequests = 0
        /// The received introspection requests with their `Authorization` fields.
        var introspections: [(authorization: String?, form: String)] = []
    }

    /// The identifier of the API in every test.
    static let audience = "https://photos.example"
    /// The initial time in every test.
    static let now = Date(timeIntervalSince1970: 1_800_000_000)

    let issuer: Issuer
    private let state: Mutex<State>

    private init(issuer: Issuer, state: State) {
        self.issuer = issuer
        self.state = Mutex(state)
    }

    /// Runs a server for the duration of a test.
    static func run<Value: Sendable>(
        algorithm: SigningAlgorithm = .es256, _ test: @escaping @Sendable (Authority) async throws -> Value
    ) async throws -> Value {
        let key = try SigningKey.generate(algorithm)
        let running = Mutex<Authority?>(nil)
        let server = try await LoopbackServer(address: "127.0.0.1") { exchange in
            let authority = try #require(running.withLock { $0 })
            let request = try #require(exchange.request)
            switch (request.method, request.path) {
            case (.get, "/.well-known/oauth-authorization-server"): try await authority.sendMetadata(to: exchange)
            case (.get, "/oauth2/jwks"), (.get, "/elsewhere"): try await authority.sendKeys(to: exchange)
            case (.post, "/oauth2/introspect"):
                try await authority.introspect(by: request.headerFields[.authorization], for: exchange)
            default: try await exchange.send(404)
            }
        }
        do {
            let authority = Authority(
                issuer: try Issuer("http://127.0.0.1:\(server.port)"), state: State(signingKeys: [key]))
            running.withLock { $0 = authority }
            let value = try await test(authority)
            await server.stop()
            return value
        } catch {
            await server.stop()
            throw error
        }
    }

    /// Changes the published data.
    func change(_ change: (inout sending State) -> Void) {
        state.withLock { change(&$0) }
    }

    /// The number of received requests for the keys.
    var keyRequests: Int { state.withLock { $0.keyRequests } }

    /// The number of received requests for the metadata.
    var metadataRequests: Int { state.withLock { $0.metadataRequests } }

    /// The received introspection requests.
    var introspections: [(authorization: String?, form: String)] { state.withLock { $0.introspections } }

    /// Replaces the signing key and publishes only the new one.
    func rotate() throws {
        let key = try SigningKey.generate(.es256)
        change { $0.signingKeys = [key] }
    }

    /// The current signing key.
    var signingKey: SigningKey {
        get throws { try #require(state.withLock { $0.signingKeys.last }) }
    }

    /// Creates the claims of a token for the API.
    func claims(
        subject: String = "anna", clientID: String = "lightbox", scope: String = "photos.read", tokenID: String = "t-1",
        audience: String = audience
    ) throws -> AccessTokenClaims {
        AccessTokenClaims(
            issuer: issuer,
            subject: subject,
            audience: [audience],
            clientID: try #require(ClientIdentifier(clientID)),
            expires: Self.now.addingTimeInterval(3600),
            issuedAt: Self.now,
            tokenID: tokenID,
            scope: try Scope(lenient: scope)
        )
    }

    /// Signs a valid token for the API.
    func token(
        subject: String = "anna", clientID: String = "lightbox", scope: String = "photos.read",
        audience: String = audience
    ) throws -> String {
        try signingKey.sign(claims(subject: subject, clientID: clientID, scope: scope, audience: audience))
    }

    /// Signs a valid token for the API that is bound to a key.
    func token(boundTo prover: Prover, scope: String = "photos.read") throws -> AccessToken {
        var claims = try claims(scope: scope)
        claims.keyThumbprint = try prover.thumbprint
        return try #require(AccessToken(try signingKey.sign(claims)))
    }

    /// Creates the API, which finds the keys through the metadata.
    func resourceServer(
        clock: TestClock = TestClock(),
        policy: KeySetCache.Policy = KeySetCache.Policy(),
        introspection: TokenIntrospection? = nil,
        proofs: ProofPolicy = ProofPolicy(),
        audience: String = audience,
        scopeHierarchy: ScopeHierarchy = .flat,
        publishing description: ResourceDescription? = nil,
        resourceMetadata: String? = nil
    ) -> ResourceServer {
        ResourceServer(
            issuer: issuer,
            audience: audience,
            keys: KeySetCache(source: HTTPKeySetSource(issuer: issuer), policy: policy),
            introspection: introspection,
            proofs: proofs,
            scopeHierarchy: scopeHierarchy,
            publishing: description,
            resourceMetadata: resourceMetadata,
            now: { clock.now },
            instant: { clock.instant }
        )
    }

    private func sendMetadata(to exchange: HTTPExchange) async throws {
        let state = state.withLock { state in
            state.metadataRequests += 1
            return state
        }
        var metadata = AuthorizationServerMetadata(issuer: issuer)
        metadata.issuer = state.metadataIssuer ?? metadata.issuer
        metadata.jwksURI = state.jwksURI ?? issuer.endpoint("/oauth2/jwks")
        metadata.introspectionEndpoint = issuer.endpoint("/oauth2/introspect")
        try await exchange.send(200, body: Array(try metadata.encoded()))
    }

    private func introspect(by authorization: String?, for exchange: HTTPExchange) async throws {
        let form = String(decoding: exchange.body, as: UTF8.self)
        let token = try #require(try FormParameters(parsing: form).pairs.first { $0.name == "token" }).value
        let (status, headers, answer) = state.withLock { state in
            state.introspections.append((authorization, form))
            return (
                state.introspectionStatus, state.introspectionHeaders,
                state.introspectionResponses[token] ?? #"{"active":false}"#
            )
        }
        try await exchange.send(status.code, headers, body: Array(answer.utf8))
    }

    private func sendKeys(to exchange: HTTPExchange) async throws {
        let state = state.withLock { state in
            state.keyRequests += 1
            return state
        }
        let set = JSONWebKeySet(keys: state.signingKeys.map(\.publicKey))
        let padding = [UInt8](repeating: UInt8(ascii: " "), count: state.padding)
        try await exchange.send(state.status.code, state.headers, body: Array(set.encoded()) + padding)
    }
}

/// A clock that a test sets and advances.
final class TestClock: Sendable {
    private let time = Mutex((date: Authority.now, instant: ContinuousClock.now))

    var now: Date { time.withLock { $0.date } }

    /// The time of the monotonic clock.
    var instant: ContinuousClock.Instant { time.withLock { $0.instant } }

    func advance(by seconds: TimeInterval) {
        time.withLock { time in
            time.date += seconds
            time.instant += .seconds(seconds)
        }
    }

    /// Sets the wall clock without the monotonic clock.
    func jump(by seconds: TimeInterval) { time.withLock { $0.date += seconds } }
}

extension HTTPRequest {
    /// Creates a request with the given `Authorization` fields.
    static func get(_ path: String = "/photos", authorization: String...) -> HTTPRequest {
        var request = HTTPRequest(method: .get, scheme: "https", authority: "photos.example", path: path)
        request.headerFields[values: .authorization] = authorization
        return request
    }
}
