import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilTesting
import Foundation
import HTTPTypes
import Testing

/// Whose scripts may read what the server answers.
struct CrossOriginTests {
    private static let origin = "https://app.example.com"

    private static func withSinglePage(_ store: any AuthorizationServerStore = MemoryStore()) async throws -> TestServer
    {
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

    // R029: a registered origin is told what its scripts may send.
    @Test(arguments: [Endpoint.token, .revocation, .userInfo], [origin, "http://localhost:5173"])
    func `a registered origin may send`(endpoint: Endpoint, origin: String) async throws {
        let test = try await Self.withSinglePage()
        let reply = await Self.preflight(test, endpoint, origin: origin)
        #expect(reply.status == .noContent)
        #expect(reply.fields[.accessControlAllowOrigin] == origin)
        let methods = endpoint == .userInfo ? "GET, POST" : "POST"
        #expect(reply.fields[.accessControlAllowMethods] == methods)
        #expect(
            reply.fields[.accessControlAllowHeaders] == "Content-Type, Authorization, DPoP, MCP-Protocol-Version")
        #expect(reply.fields[.accessControlMaxAge] == "3600")
        #expect(reply.fields[.vary] == "Origin")
        #expect(reply.fields[.accessControlAllowCredentials] == nil)
        guard case .none = reply.content else { return #expect(Bool(false), "the answer has no body") }
    }

    // R310, B-02, RS-30, OK-06: the answer itself, also one that refuses, can be read by the scripts of that origin.
    @Test(arguments: [Endpoint.token, .revocation, .userInfo])
    func `a registered origin may read answers and refusals`(endpoint: Endpoint) async throws {
        let test = try await Self.withSinglePage()
        for method in [HTTPRequest.Method.post, .put] {
            let reply = await test.send(method, to: endpoint, fields: [.origin: Self.origin])
            #expect(reply.status != .ok)
            #expect(reply.fields[.accessControlAllowOrigin] == Self.origin)
            #expect(reply.fields[.accessControlExposeHeaders] == "WWW-Authenticate, Retry-After")
            #expect(reply.fields[.vary] == "Origin")
            #expect(reply.fields[.accessControlAllowCredentials] == nil)
        }
    }

    // R310: the whole of a sign-in from a script.
    @Test func `a single-page application redeems its code`() async throws {
        let test = try await Self.withSinglePage()
        let album = try #require(ClientIdentifier("app_album"))
        let client = try #require(try await test.store.client(album))
        let attempt = Attempt(test, by: client, at: "https://app.example.com/callback")
        let reply = await test.redeem(
            attempt.exchange(try await attempt.authorize().code), fields: [.origin: Self.origin])
        #expect(try reply.tokenResponse.isBearer)
        #expect(reply.fields[.accessControlAllowOrigin] == Self.origin)
    }

    // R029, B-02: nobody else's, in whatever spelling.
    @Test(
        arguments: [Endpoint.token, .revocation, .userInfo],
        [
            "https://evil.example", "null", "", "https://app.example.com.evil.example", "https://app.example.com:8443",
            "http://app.example.com", "HTTPS://APP.EXAMPLE.COM", "https://app.example.com/", "https://xapp.example.com",
            "https://app.example.co", "*", "app.example.com",
        ]
    )
    func `another origin is told nothing`(endpoint: Endpoint, origin: String) async throws {
        let test = try await Self.withSinglePage()
        let asked = await Self.preflight(test, endpoint, origin: origin)
        #expect(asked.status == .methodNotAllowed)
        let sent = await test.send(.post, to: endpoint, fields: [.origin: origin])
        for reply in [asked, sent] {
            Self.expectNothingShared(reply)
            // A cache must not give one origin what another was told.
            #expect(reply.fields[.vary] == "Origin")
        }
    }

    @Test func `two origins are none`() async throws {
        let test = try await Self.withSinglePage()
        var fields: HTTPFields = [.accessControlRequestMethod: "POST"]
        for _ in 0..<2 { fields.append(HTTPField(name: .origin, value: Self.origin)) }
        Self.expectNothingShared(await test.send(.options, to: .token, fields: fields))
    }

    // Metadata and keys are public; every origin may read them, and may ask first.
    @Test(arguments: [Endpoint.metadata, .keySet])
    func `metadata and keys are for every script`(endpoint: Endpoint) async throws {
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

    // R162, R310: never where a person signs in, nor anywhere else.
    @Test(arguments: Endpoint.protocolEndpoints + ServerPages.console.endpoints)
    func `no other endpoint is for scripts of another origin`(endpoint: Endpoint) async throws {
        guard ![.token, .revocation, .userInfo, .metadata, .keySet].contains(endpoint) else { return }
        let test = try await Self.withSinglePage()
        Self.expectNothingShared(await Self.preflight(test, endpoint))
        Self.expectNothingShared(await test.send(.get, to: endpoint, fields: [.origin: Self.origin]))
        Self.expectNothingShared(await test.send(.post, to: endpoint, fields: [.origin: Self.origin]))
    }

    // What a developer changes counts at the next request.
    @Test func `an origin that is taken away is told nothing any more`() async throws {
        let test = try await Self.withSinglePage()
        let album = try #require(ClientIdentifier("app_album"))
        var client = try #require(try await test.store.client(album))
        client.origins = []
        #expect(try await test.store.updateClient(client, logo: .keep) == .updated)
        Self.expectNothingShared(await Self.preflight(test, .token))
    }

    @Test func `while the store is away no origin is known`() async throws {
        let store = FaultyStore()
        let test = try await Self.withSinglePage(store)
        store.fail(.isRegistered)
        Self.expectNothingShared(await Self.preflight(test, .token))
    }
}
