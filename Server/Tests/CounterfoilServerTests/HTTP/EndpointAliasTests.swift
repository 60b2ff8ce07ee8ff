import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// Second paths of endpoints, for clients that have the paths of another server built in.
struct EndpointAliasTests {
    private static func routes(_ aliases: String..., issuer: String = "https://id.example.com") throws -> RouteTable {
        var settings = ServerSettings(issuer: try Issuer(issuer))
        for alias in aliases { try settings.endpointAliases.add(alias, beside: .console) }
        return RouteTable(Endpoint.protocolEndpoints + ServerPages.console.endpoints, settings: settings)
    }

    // A second path leads to the same endpoint, with its methods, limits and CORS.
    @Test(arguments: [
        ("authorization=/connect/authorize", "/connect/authorize", Endpoint.authorization),
        ("token=/connect/token", "/connect/token", .token),
        ("token=/oauth/v2/token", "/oauth/v2/token", .token),
        ("token=/o/token/", "/o/token/", .token),
        ("revocation=/oauth/v2/token/revoke", "/oauth/v2/token/revoke", .revocation),
        ("userinfo=/connect/userinfo", "/connect/userinfo", .userInfo),
    ])
    func `an endpoint responds at both paths`(alias: String, path: String, endpoint: Endpoint) throws {
        let routes = try Self.routes(alias)
        #expect(routes.route(path)?.endpoint == endpoint)
        #expect(routes.route(endpoint.paths(of: try Issuer("https://id.example.com"))[0])?.endpoint == endpoint)
        #expect(try Self.routes().route(path) == nil)
        for other in [path + "x", path.uppercased(), "/" + path, path + "/x"] { #expect(routes.route(other) == nil) }
        // Below the issuer's path, as every path of the server, so that its cookies are sent there.
        let tenant = try Self.routes(alias, issuer: "https://id.example.com/tenant1")
        #expect(tenant.route("/tenant1" + path)?.endpoint == endpoint)
        #expect(tenant.route(path) == nil)
    }

    @Test(arguments: [
        ("token", EndpointAliases.Refusal.form), ("", .form), ("Token=/t", .endpoint("Token")),
        ("introspection=/i", .endpoint("introspection")), ("=/t", .endpoint("")),
        ("token=", .path), ("token=connect/token", .path), ("token=/", .path), ("token=//token", .path),
        ("token=/a//b", .path), ("token=/a/../token", .path), ("token=/./token", .path), ("token=/a/b//", .path),
        ("token=/t%6Fken", .path), ("token=/token?x=1", .path), ("token=/token#x", .path), ("token=/to ken", .path),
        ("token=/{client_id}", .path), ("token=/é", .path), ("token=https://id.example.com/token", .path),
        ("token=/" + String(repeating: "a", count: 256), .path),
        ("token=/oauth2/token", .taken("/oauth2/token")), ("token=/oauth2/authorize", .taken("/oauth2/authorize")),
        ("token=/account", .taken("/account")), ("token=/apps/x", .taken("/apps/x")),
        ("token=/account/apps/x", .taken("/account/apps/x")), ("token=/callback/x", .taken("/callback/x")),
        ("token=/logos/x", .taken("/logos/x")), ("token=/livez", .taken("/livez")),
        ("token=/account/", .taken("/account/")), ("token=/assets/x.css", .taken("/assets/x.css")),
        ("token=/.well-known/token", .taken("/.well-known/token")),
    ])
    func `an invalid path, or one that is in use, is refused`(alias: String, why: EndpointAliases.Refusal) {
        var aliases = EndpointAliases()
        #expect(throws: why) { try aliases.add(alias, beside: .console) }
        #expect(aliases.all.isEmpty)
        #expect(!"\(why)".isEmpty)
    }

    @Test func `one path leads to one endpoint`() throws {
        var aliases = EndpointAliases()
        try aliases.add("token=/connect/token", beside: .console)
        #expect(throws: EndpointAliases.Refusal.taken("/connect/token")) {
            try aliases.add("revocation=/connect/token", beside: .console)
        }
        #expect(throws: EndpointAliases.Refusal.taken("/connect/token")) {
            try aliases.add("token=/connect/token", beside: .console)
        }
        try aliases.add("token=/oauth/v2/token", beside: .console)
        #expect(aliases.paths(of: .token) == ["/connect/token", "/oauth/v2/token"])
    }

    // The metadata is the same with and without a second path.
    @Test func `the metadata names the first paths`() async throws {
        let test = try await TestServer { try? $0.endpointAliases.add("token=/connect/token", beside: .console) }
        let reply = await test.send(.get, to: .metadata)
        let metadata = try AuthorizationServerMetadata(parsing: try reply.json)
        #expect(metadata.tokenEndpoint == "https://id.example.com/oauth2/token")
    }

    // The complete flow of a client that uses other paths only, with the session of its browser.
    @Test func `a client that uses the second paths signs in`() async throws {
        let test = try await TestServer {
            try? $0.endpointAliases.add("authorization=/connect/authorize", beside: .console)
            try? $0.endpointAliases.add("token=/connect/token", beside: .console)
        }
        let attempt = Attempt(test)
        let url = attempt.url.replacing("/oauth2/authorize", with: "/connect/authorize")
        var browser = test.browser()
        let code = try await browser.authorize(url, username: "alice", password: TestServer.password).code
        let tokens = try await test.redeem(attempt.exchange(code)).tokenResponse
        #expect(tokens.scope?.description == "photos.read")
        // The user is signed in already, and is asked for consent immediately.
        _ = try await browser.open(url).consentPage
    }
}
