import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// Scopes that are reserved for approved clients.
struct ReservedScopeTests {
    private static let all = "openid offline_access photos.read photos.write"

    private static func reserve(_ name: String, on test: TestServer) async throws {
        let former = try #require(try await test.store.scopes().first { $0.token.rawValue == name })
        var scope = former
        scope.isReserved = true
        #expect(try await test.store.updateScope(scope, from: former) == .updated)
    }

    private static func client(_ test: TestServer, _ approval: ClientApproval) async throws -> RegisteredClient {
        let client = try await test.register("Album", redirectURIs: ["http://127.0.0.1/callback"], scope: all)
        try await test.change(client) { $0.approval = approval }
        return client
    }

    // RFC 6749 §4.1.2.1
    @Test func `a client without an approval gets invalid_scope at every endpoint that begins a sign-in`() async throws
    {
        let test = try await TestServer()
        try await Self.reserve("photos.write", on: test)
        let client = try await Self.client(test, .open)
        let error = try await Attempt(test, by: client, for: "photos.read photos.write").error()
        #expect(error.code == .invalidScope)
        #expect(error.description?.contains("reserved") == true)
        let pushed = await Attempt(test, by: client, for: "photos.write").push()
        #expect(try pushed.tokenError.error == "invalid_scope")
        let device = await TestDevice(test, client: client).request(["scope": "photos.write"])
        #expect(try device.tokenError.error == "invalid_scope")

        // Without the reserved scope, the client works.
        _ = try await Attempt(test, by: client, for: "photos.read").authorize().code
        try await test.change(client) { $0.approval = .approved }
        let tokens = try await Attempt(test, by: client, for: "photos.read photos.write").tokens()
        #expect(tokens.scope?.description.contains("photos.write") != false)
    }

    @Test func `a first-party client counts as approved`() async throws {
        let test = try await TestServer()
        try await Self.reserve("photos.write", on: test)
        let client = try await Self.client(test, .open)
        try await test.change(client) { $0.policy.isFirstParty = true }
        _ = try await Attempt(test, by: client, for: "photos.write").authorize().code
    }

    // RFC 6749 §3.3: the default scope of a client has no reserved scope either.
    @Test func `a request without a scope gets the others`() async throws {
        let test = try await TestServer()
        try await Self.reserve("photos.write", on: test)
        let client = try await Self.client(test, .open)
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        let page = try await browser.open(Attempt(test, by: client, for: nil).url).consentPage
        #expect(page.permissions.map(\.scope) == ["photos.read"])
    }

    // RFC 6749 §6
    @Test func `a refresh loses a scope that becomes reserved, and must not name it`() async throws {
        let test = try await TestServer()
        let client = try await Self.client(test, .open)
        var refresh = FormParameters([
            "grant_type": "refresh_token", "client_id": client.id.rawValue,
            "refresh_token": try #require(try await Attempt(test, by: client, for: Self.all).tokens().refreshToken)
                .exposed,
        ])
        try await Self.reserve("photos.write", on: test)
        let named = refresh.adding("scope", "photos.write")
        #expect(try await test.redeem(named).tokenError.error == "invalid_scope")
        // The grant contains it also if the developer takes it out of the registration.
        let left = try Scope(parsing: "openid offline_access photos.read")
        try await test.change(client) { $0.scope = left }
        let refreshed = try await test.redeem(refresh).tokenResponse
        #expect(Set(refreshed.scope?.tokens ?? []) == Set(left.tokens))

        try await test.change(client) { $0.approval = .approved }
        refresh = refresh.setting("refresh_token", to: try #require(refreshed.refreshToken).exposed)
        let again = try await test.redeem(refresh).tokenResponse
        #expect(again.scope?.description.contains("photos.write") != false)
    }

    @Test func `a service without an approval gets no reserved scope`() async throws {
        let test = try await TestServer()
        let service = try await test.addService()
        try await Self.reserve("photos.read", on: test)
        let form = FormParameters(["grant_type": "client_credentials", "scope": "photos.read"])
        #expect(try await test.redeem(form, fields: service.fields).tokenError.error == "invalid_scope")
        try await test.change(service.client) { $0.approval = .approved }
        #expect(await test.redeem(form, fields: service.fields).status == .ok)
    }

    @Test func `the policy for unregistered clients contains no reserved scope`() async throws {
        let test = try await TestServer()
        try await test.acceptUnregisteredClients()
        try await Self.reserve("photos.write", on: test)
        let client = try await test.selfRegisteredClient()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        let page = try await browser.open(Attempt(test, by: client, for: "photos.read photos.write").url).consentPage
        #expect(page.permissions.map(\.scope) == ["photos.read"])
    }
}
