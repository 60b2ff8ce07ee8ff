import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// The root URL of the server.
struct HomeTests {
    @Test func `the root leads to sign-in, and from there to the account`() async throws {
        let test = try await TestServer()
        for method in [HTTPRequest.Method.get, .head] {
            let reply = await test.send(method, to: .home)
            #expect(reply.status == .seeOther)
            #expect(reply.fields[.location] == "/sign-in")
            #expect(reply.fields[.cacheControl] == "no-store")
        }
        #expect(await test.send(.post, to: .home).status == .methodNotAllowed)
        var browser = test.browser()
        _ = try await browser.open("/").signInPage
        try await browser.signInToConsole(username: "alice")
        #expect(try await browser.open("/").page is AccountPage)
    }

    // W3C A Well-Known URL for Changing Passwords §3: password managers look for it at the root of the host.
    @Test(arguments: ["", "/tenant"])
    func `the well-known URL leads to the change of the password`(path: String) async throws {
        let test = try await TestServer(issuer: "https://id.example.com" + path)
        let routes = RouteTable(Endpoint.protocolEndpoints, settings: test.server.settings)
        #expect(routes.route("/.well-known/change-password")?.endpoint == .passwordChange)
        for method in [HTTPRequest.Method.get, .head] {
            let reply = await test.send(method, to: .passwordChange)
            #expect(reply.status == .seeOther)
            #expect(reply.fields[.location] == path + "/account/password")
        }
    }

    @Test func `with a path in the issuer the root is that path, with and without a slash`() throws {
        let issuer = try Issuer("https://id.example.com/tenant")
        let routes = RouteTable(Endpoint.protocolEndpoints, settings: ServerSettings(issuer: issuer))
        for path in ["/", "/tenant", "/tenant/"] { #expect(routes.route(path)?.endpoint == .home, "\(path)") }
        for path in ["//", "/tenant//", "/other", "/other/"] { #expect(routes.route(path) == nil, "\(path)") }
        #expect(
            RouteTable(
                Endpoint.protocolEndpoints, settings: ServerSettings(issuer: try Issuer("https://id.example.com"))
            ).route("/")?.endpoint == .home)
    }
}
