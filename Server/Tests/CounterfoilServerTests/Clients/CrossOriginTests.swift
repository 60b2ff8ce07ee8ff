import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The origins whose scripts may read the server's responses.
struct CrossOriginTests {
    private static let origin = "https://app.example.com"

    private static func withSinglePage(_ store: any AuthorizationServerStore = TestStore()) async throws -> TestServer {
        let test = try await TestServer(store: store)
        _ = try await test.register(
            "Album", type: .singlePage, redirectURIs: ["https://app.example.com/callback"],
            origins: [origin, "http://localhost:5173"])
        return test
    }

    private static func preflight(_ test: TestServer, _ endpoint: Endpoint, origin: String = origin) async -> Reply {
        await test.send(
            .options, to: endpoint,
            fields: [
                .origin: origin, .accessControlRequestMethod: "POST",
                .accessControlRequestHeaders: "content-type,mcp-protocol-version",
            ])
    }

    private static func expectNothingShared(_ reply: Reply) {
        for name: HTTPField.Name in [
            .accessControlAllowOrigin, .accessControlAllowMethods, .accessControlAllowHeaders,
            .accessControlExposeHeaders, .accessControlAllowCredentials, .accessControlMaxAge,
        ] {
            #expect(reply.fields[name] == nil)
        }
    }

    // The preflight response tells a registered origin which requests its scripts may send.
    @Test(
        arguments: [Endpoint.token, .pushedAuthorization, .revocation, .userInfo], [origin, "http://localhost:5173"])
    func `a registered origin may send requests`(endpoint: Endpoint, origin: String) async throws {
        let test = try await Self.withSinglePage()
        let reply = await Self.preflight(test, endpoint, origin: origin)
        #expect(reply.status == .noContent)
        #expect(reply.fields[.accessControlAllowOrigin] == origin)
        let methods = endpoint == .userInfo ? "GET, POST" : "POST"
        #expect(reply.fields[.accessControlAllowMethods] == methods)
        #expect(
            reply.fields[.accessControlAllowHeaders]
                == "Content-Type, Authorization, DPoP, MCP-Protocol-Version, X-Requested-With, traceparent, tracestate, "
                + "baggage, sentry-trace")
        #expect(reply.fields[.accessControlMaxAge] == "3600")
        #expect(reply.fields[.vary] == "Origin")
        #expect(reply.fields[.accessControlAllowCredentials] == nil)
        guard case .none = reply.content else { return #expect(Bool(false), "the answer has no body") }
    }

    // Fetch §3.2.2: a browser sends no request with a field that the preflight response does not name.
    @Test func `scripts may send the header fields of the settings, from the next request on`() async throws {
        let test = try await Self.withSinglePage()
        var settings = test.server.settings
        settings.crossOriginFields = ["Content-Type", "X-Datadog-Trace-Id"]
        test.server.replaceSettings(by: settings)
        for endpoint in [Endpoint.token, .metadata] {
            let reply = await Self.preflight(test, endpoint, origin: Self.origin)
            #expect(reply.fields[.accessControlAllowHeaders] == "Content-Type, X-Datadog-Trace-Id")
        }
    }

    // Scripts of the origin can read the response itself, also an error.
    @Test(arguments: [Endpoint.token, .revocation, .userInfo])
    func `a registered origin may read responses and errors`(endpoint: Endpoint) async throws {
        let test = try await Self.withSinglePage()
        for method in [HTTPRequest.Method.post, .put] {
            let reply = await test.send(method, to: endpoint, fields: [.origin: Self.origin])
            #expect(reply.status != .ok)
            #expect(reply.fields[.accessControlAllowOrigin] == Self.origin)
            #expect(
                reply.fields[.accessControlExposeHeaders] == "WWW-Authenticate, Retry-After, DPoP-Nonce, X-Request-ID")
            #expect(reply.fields[.vary] == "Origin")
            #expect(reply.fields[.accessControlAllowCredentials] == nil)
        }
    }

    // A complete sign-in by a script.
    @Test func `a single-page app redeems its code`() async throws {
        let test = try await Self.withSinglePage()
        let album = try #require(ClientIdentifier("app_album"))
        let client = try #require(try await test.store.client(album))
        let attempt = Attempt(test, by: client, at: "https://app.example.com/callback")
        let reply = await test.redeem(
            attempt.exchange(try await attempt.authorize().code), fields: [.origin: Self.origin])
        #expect(try reply.tokenResponse.isBearer)
        #expect(reply.fields[.accessControlAllowOrigin] == Self.origin)
    }

    // No other origin, in any spelling.
    @Test(
        arguments: [Endpoint.token, .revocation, .userInfo],
        [
            "https://evil.example", "null", "", "https://app.example.com.evil.example", "https://app.example.com:8443",
            "http://app.example.com", "HTTPS://APP.EXAMPLE.COM", "https://app.example.com/", "https://xapp.example.com",
            "https://app.example.co", "*", "app.example.com",
        ]
    )
    func `another origin is not allowed`(endpoint: Endpoint, origin: String) async throws {
        let test = try await Self.withSinglePage()
        let asked = await Self.preflight(test, endpoint, origin: origin)
        #expect(asked.status == .methodNotAllowed)
        let sent = await test.send(.post, to: endpoint, fields: [.origin: origin])
        for reply in [asked, sent] {
            Self.expectNothingShared(reply)
            // A cache must not return the response for one origin to another.
            #expect(reply.fields[.vary] == "Origin")
        }
    }

    @Test func `two origins in one field are none`() async throws {
        let test = try await Self.withSinglePage()
        var fields: HTTPFields = [.accessControlRequestMethod: "POST"]
        for _ in 0..<2 { fields.append(HTTPField(name: .origin, value: Self.origin)) }
        Self.expectNothingShared(await test.send(.options, to: .token, fields: fields))
    }

    // Metadata and keys are public: every origin may read them, with a preflight request if it sends one.
    @Test(arguments: [Endpoint.metadata, .keySet])
    func `metadata and keys are readable by every script`(endpoint: Endpoint) async throws {
        let test = try await TestServer()
        let asked = await Self.preflight(test, endpoint, origin: "https://anybody.example")
        #expect(asked.status == .noContent)
        #expect(asked.fields[.accessControlAllowOrigin] == "*")
        #expect(asked.fields[.accessControlAllowMethods] == "GET, HEAD")
        #expect(asked.fields[.accessControlAllowHeaders]?.contains("MCP-Protocol-Version") == true)
        let read = await test.send(.get, to: endpoint, fields: [.origin: "https://anybody.example"])
        #expect(read.status == .ok)
        #expect(read.fields[.accessControlAllowOrigin] == "*")
        #expect(read.fields[.accessControlAllowCredentials] == nil)
    }

    // Never the sign-in page, nor any other endpoint.
    @Test(arguments: Endpoint.protocolEndpoints + ServerPages.console.endpoints)
    func `no other endpoint allows scripts of another origin`(endpoint: Endpoint) async throws {
        let shared: [Endpoint] =
            [
                .token, .pushedAuthorization, .revocation, .userInfo, .metadata, .keySet, .registration,
                .registeredClient,
            ] + Endpoint.administrationAPI
        guard !shared.contains(endpoint) else { return }
        let test = try await Self.withSinglePage()
        Self.expectNothingShared(await Self.preflight(test, endpoint))
        Self.expectNothingShared(await test.send(.get, to: endpoint, fields: [.origin: Self.origin]))
        Self.expectNothingShared(await test.send(.post, to: endpoint, fields: [.origin: Self.origin]))
    }

    // A developer's change takes effect at the next request.
    @Test func `a removed origin is no longer allowed`() async throws {
        let test = try await Self.withSinglePage()
        let album = try #require(ClientIdentifier("app_album"))
        var client = try #require(try await test.store.client(album))
        client.origins = []
        #expect(try await test.store.updateClient(client, logo: .keep) == .updated)
        Self.expectNothingShared(await Self.preflight(test, .token))
    }

    @Test func `while the store is unavailable no origin is allowed`() async throws {
        let store = TestStore()
        let test = try await Self.withSinglePage(store)
        store.fail(.isRegistered)
        Self.expectNothingShared(await Self.preflight(test, .token))
    }
}
