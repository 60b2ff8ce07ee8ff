import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// Requests that a browser sends ahead of the user, because the user may open a page.
struct PrefetchTests {
    private static let purposes = [
        ("Sec-Purpose", "prefetch"), ("Sec-Purpose", "prefetch;prerender"),
        ("Sec-Purpose", "prefetch;anonymous-client-ip"), ("Purpose", "prefetch"), ("X-Moz", "prefetch"),
        ("X-Purpose", "preview"),
    ]

    @Test(arguments: (Endpoint.protocolEndpoints + ServerPages.console.endpoints).filter(\.answersUsers))
    func `no page is shown to a browser ahead of the user`(endpoint: Endpoint) async throws {
        let test = try await TestServer()
        for method in [HTTPRequest.Method.get, .head] {
            for (name, value) in Self.purposes {
                let reply = await test.send(
                    method, to: endpoint, query: Attempt(test).request.encoded, fields: [try .named(name): value])
                #expect(reply.status == (endpoint.methods.contains(method) ? .forbidden : .methodNotAllowed))
                #expect(reply.page == nil && reply.cookies.isEmpty && reply.location == nil)
                #expect(reply.fields[.cacheControl] == "no-store")
            }
        }
    }

    // A program that reads metadata sends no such field, and a response without effect needs no rule.
    @Test func `a document for programs is served`() async throws {
        let test = try await TestServer()
        for endpoint in [Endpoint.metadata, .keySet, .liveness] {
            let reply = await test.send(.get, to: endpoint, fields: [try .named("Sec-Purpose"): "prefetch"])
            #expect(reply.status == .ok)
        }
    }

    // What a request uses up is left for the user.
    @Test func `a request ahead of the user uses nothing up`() async throws {
        let test = try await TestServer()
        let address = "https://app.example/cb"
        let client = try await test.register("Own", redirectURIs: [address], isFirstParty: true)
        let attempt = Attempt(test, by: client, at: address)
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        let hint = try #require(
            try await Attempt(test, by: client, at: address, for: "openid").tokens(in: &browser).idToken)
        let pushed = try await PushedAttempt(attempt)
        let link = try #require(try await test.server.openSetup())
        let signOut = "/oauth2/logout?" + FormParameters(["id_token_hint": hint.exposed]).encoded
        browser.fields = [try .named("Sec-Purpose"): "prefetch"]
        for path in [pushed.url, attempt.url, link, signOut] {
            #expect(try await browser.send(.get, to: path).status == .forbidden)
        }
        browser.fields = [:]
        #expect(try await browser.open(pushed.url).code.exposed.utf8.count == 43)
        #expect(try await browser.open(link).page is SetupPage)
        #expect(try await browser.open("/account").accountPage.console.userDisplayName == "Alice")
        #expect(try await browser.open(signOut).signedOutPage.clientName == "Own")
    }
}
