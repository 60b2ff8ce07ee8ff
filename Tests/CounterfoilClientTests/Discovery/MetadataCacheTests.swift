@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

@testable import CounterfoilClient

/// Tests of the cache for metadata and key sets, with a clock that the tests set.
struct MetadataCacheTests {
    private static let path = "/.well-known/oauth-authorization-server"
    private static let openIDPath = "/.well-known/openid-configuration"

    private static func body(token: String = "https://id.example.com/t") -> String {
        #"{"issuer":"https://id.example.com","authorization_endpoint":"https://id.example.com/a","token_endpoint":"\#(token)","code_challenge_methods_supported":["S256"]}"#
    }

    /// A clock that stands still until a test moves it.
    private final class Clock: Sendable {
        private let instant = Mutex(ContinuousClock.now)

        func now() -> ContinuousClock.Instant { instant.withLock { $0 } }
        func advance(by duration: Duration) { instant.withLock { $0 += duration } }
    }

    private let clock = Clock()
    private let issuer: Issuer

    init() throws { issuer = try Issuer("https://id.example.com") }

    private func cache() -> MetadataCache { MetadataCache(now: { [clock] in clock.now() }) }

    @Test(arguments: [(nil, 3600), ("max-age=60", 60), ("public, max-age=999999999", 86400)] as [(String?, Int)])
    func `metadata are fetched again when their lifetime has passed`(field: String?, seconds: Int) async throws {
        let transport = FixedTransport(
            bodies: [Self.path: Self.body()], headerFields: field.map { [.cacheControl: $0] } ?? [:])
        let discovery = MetadataDiscovery(transport: transport, cache: cache())
        _ = try await discovery.configuration(of: issuer)
        clock.advance(by: .seconds(seconds - 1))
        _ = try await discovery.configuration(of: issuer)
        #expect(transport.paths.count == 1)
        transport.set(Self.body(token: "https://id.example.com/new"), at: Self.path)
        clock.advance(by: .seconds(2))
        let later = try await discovery.configuration(of: issuer)
        #expect(later.tokenEndpoint.rawValue == "https://id.example.com/new")
    }

    @Test(arguments: ["no-store", "max-age=0", "private, no-cache"])
    func `a server can forbid that its metadata are kept`(field: String) async throws {
        let transport = FixedTransport(bodies: [Self.path: Self.body()], headerFields: [.cacheControl: field])
        let discovery = MetadataDiscovery(transport: transport, cache: cache())
        for _ in 0..<2 { _ = try await discovery.configuration(of: issuer) }
        #expect(transport.paths.count == 2)
    }

    @Test func `expired metadata are used for a day while the server is unavailable`() async throws {
        let transport = FixedTransport(bodies: [Self.path: Self.body()])
        let discovery = MetadataDiscovery(transport: transport, cache: cache())
        _ = try await discovery.configuration(of: issuer)
        transport.fail(with: 503)
        clock.advance(by: .seconds(3600 + 86_300))
        _ = try await discovery.configuration(of: issuer)
        clock.advance(by: .seconds(200))
        await #expect(throws: SignInError.self) { try await discovery.configuration(of: issuer) }
    }

    @Test func `metadata that turn out to be wrong are fetched again`() async throws {
        let transport = FixedTransport(bodies: [Self.path: Self.body()])
        let cache = cache()
        let discovery = MetadataDiscovery(transport: transport, cache: cache)
        _ = try await discovery.configuration(of: issuer)
        cache.forget(issuer)
        _ = try await discovery.configuration(of: issuer)
        #expect(transport.paths.count == 2)
    }

    @Test(arguments: [nil, "no-store"] as [String?])
    func `the URL that had the document is asked first, until it has none`(field: String?) async throws {
        let transport = FixedTransport(
            bodies: [Self.openIDPath: Self.body()], headerFields: field.map { [.cacheControl: $0] } ?? [:])
        let discovery = MetadataDiscovery(transport: transport, cache: cache())
        func requests() async throws -> [String] {
            clock.advance(by: .seconds(3601))
            _ = try await discovery.configuration(of: issuer)
            return transport.takePaths()
        }
        #expect(try await requests() == [Self.path, Self.openIDPath])
        #expect(try await requests() == [Self.openIDPath])
        transport.set(nil, at: Self.openIDPath)
        transport.set(Self.body(), at: Self.path)
        #expect(try await requests() == [Self.openIDPath, Self.path])
        #expect(try await requests() == [Self.path])
    }

    @Test func `a URL that fails for a moment keeps its place`() async throws {
        let transport = FixedTransport(bodies: [Self.path: Self.body(), Self.openIDPath: Self.body()])
        let discovery = MetadataDiscovery(transport: transport, cache: cache())
        func requests() async throws -> [String] {
            clock.advance(by: .seconds(3601))
            _ = try await discovery.configuration(of: issuer)
            return transport.takePaths()
        }
        transport.fail(with: 503, at: Self.path)
        #expect(try await requests() == [Self.path, Self.openIDPath])
        transport.fail(with: nil, at: Self.path)
        #expect(try await requests() == [Self.path])
        transport.fail(with: 503, at: Self.path)
        #expect(try await requests() == [Self.path, Self.openIDPath])
        #expect(try await requests() == [Self.path, Self.openIDPath])
    }

    @Test func `a server on this device is asked each time`() async throws {
        let local = try Issuer("http://127.0.0.1:4444")
        let body = Self.body().replacing("https://id.example.com", with: "http://127.0.0.1:4444")
        let transport = FixedTransport(bodies: [Self.path: body])
        let discovery = MetadataDiscovery(transport: transport, cache: cache())
        for _ in 0..<2 { _ = try await discovery.configuration(of: local) }
        #expect(transport.paths.count == 2)
    }

    // OpenID Connect Core §10.1.1
    @Test func `a cached key set is fetched again for an unknown key, at most once a minute`() async throws {
        let key = try SigningKey.generate(.es256)
        let other = try SigningKey.generate(.es256)
        func set(_ keys: SigningKey...) -> String {
            String(decoding: JSONWebKeySet(keys: keys.map(\.publicKey)).encoded(), as: UTF8.self)
        }
        let transport = FixedTransport(bodies: ["/k": set(key)])
        var metadata = AuthorizationServerMetadata(issuer: issuer)
        metadata.authorizationEndpoint = "https://id.example.com/a"
        metadata.tokenEndpoint = "https://id.example.com/t"
        metadata.jwksURI = "https://id.example.com/k"
        metadata.codeChallengeMethodsSupported = ["S256"]
        let server = try AuthorizationServerConfiguration(metadata, of: issuer)
        let client = try #require(ClientIdentifier("lightbox"))
        let check = IDTokenCheck(transport: transport, cache: cache())
        func verify(_ key: SigningKey) async throws {
            let now = Date()
            let claims = IDTokenClaims(
                issuer: issuer, subject: "alice", audience: [client.rawValue], expires: now.addingTimeInterval(60),
                issuedAt: now)
            _ = try await check.verifyWithoutRequest(
                try #require(IDToken(try key.sign(claims))), of: server, clientID: client,
                accessToken: try #require(AccessToken("a")), at: ResponseTime(received: now, serverDate: nil))
        }
        for _ in 0..<3 { try await verify(key) }
        #expect(transport.paths.count == 1)
        for _ in 0..<3 { await #expect(throws: SignInError.self) { try await verify(other) } }
        #expect(transport.paths.count == 2)
        transport.set(set(key, other), at: "/k")
        clock.advance(by: .seconds(61))
        try await verify(other)
        #expect(transport.paths.count == 3)
    }
}
