import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// The audiences of tokens (RFC 8707).
struct ResourceIndicatorTests {
    private static let read = "https://read.example.com"
    private static let write = "https://write.example.com/v1?a=b"

    private static func withAPIs() async throws -> TestServer {
        let test = try await TestServer()
        _ = try await test.addAPI(read, scope: "photos.read")
        _ = try await test.addAPI(write, scope: "photos.write")
        return test
    }

    private static func audience(_ tokens: TokenResponse) throws -> [String] {
        let claims = try IssuedTokens.parts(of: tokens.accessToken.exposed).claims
        if let several = claims["aud"] as? [String] { return several }
        return [try #require(claims["aud"] as? String)]
    }

    // `resource` is the only parameter that may be repeated; the values pass through every page.
    @Test func `the requested resources are the audience of the tokens`() async throws {
        let test = try await Self.withAPIs()
        let one = try await Attempt(test).adding("resource", Self.read).tokens()
        #expect(try Self.audience(one) == [Self.read])
        let both = Attempt(test, for: "photos.read photos.write")
            .adding("resource", Self.read).adding("resource", Self.write)
        #expect(try Self.audience(try await both.tokens()) == [Self.read, Self.write])
        let twice = Attempt(test).adding("resource", Self.read).adding("resource", Self.read)
        #expect(try Self.audience(try await twice.tokens()) == [Self.read])
        let grant = try await IssuedTokens(test).grant(id: both.tokens())
        #expect(grant.resources.map(\.rawValue) == [Self.read, Self.write])
    }

    // An empty value is treated as absent, as for every parameter: the audience follows from the scope.
    @Test func `an empty resource names no API`() async throws {
        let test = try await Self.withAPIs()
        for (scope, audience) in [("photos.read", Self.read), ("openid", "https://id.example.com")] {
            let tokens = try await Attempt(test, for: scope).adding("resource", "").tokens()
            #expect(try Self.audience(tokens) == [audience])
        }
    }

    // RFC 3986 §6.2.2.1 and §6.2.3: `new URL(resource).href` names the same API. `aud` stays as registered.
    @Test(arguments: [
        "https://read.example.com/", "https://READ.example.com", "HTTPS://read.example.com",
        "https://read.example.com:443", "https://Read.Example.com:443/",
    ])
    func `an equal spelling names the registered API, in every request`(spelling: String) async throws {
        let test = try await Self.withAPIs()
        let client = try await test.register(
            "Stay", redirectURIs: ["http://127.0.0.1/callback"], scope: "openid offline_access photos.read")
        let attempt = Attempt(test, by: client, for: "openid offline_access photos.read").adding("resource", spelling)
        let form = attempt.exchange(try await attempt.authorize().code)
        let first = try await test.redeem(form.adding("resource", Self.read)).tokenResponse
        #expect(try Self.audience(first) == [Self.read])
        let grant = try await IssuedTokens(test).grant(id: first)
        #expect(grant.resources.map(\.rawValue) == [Self.read])
        let refresh = FormParameters([
            "grant_type": "refresh_token", "client_id": client.id.rawValue,
            "refresh_token": try #require(first.refreshToken).exposed,
        ])
        let second = try await test.redeem(refresh.adding("resource", spelling)).tokenResponse
        #expect(try Self.audience(second) == [Self.read])
        let both = Attempt(test).adding("resource", Self.read).adding("resource", spelling)
        #expect(try Self.audience(try await both.tokens()) == [Self.read])
    }

    // The issuer of the server is compared in the same way, and the token is for UserInfo.
    @Test(arguments: ["https://id.example.com", "https://id.example.com/", "https://ID.example.com:443/"])
    func `an equal spelling of the issuer names the server itself`(spelling: String) async throws {
        let test = try await Self.withAPIs()
        let attempt = Attempt(test, for: "openid photos.read").adding("resource", Self.read)
        let form = attempt.exchange(try await attempt.authorize().code)
        let tokens = try await test.redeem(form.adding("resource", spelling)).tokenResponse
        #expect(try Self.audience(tokens) == ["https://id.example.com"])
        let reply = await test.send(
            .get, to: .userInfo, fields: [.authorization: "Bearer \(tokens.accessToken.exposed)"])
        #expect(reply.status == .ok)
    }

    // An API that is registered with a final slash keeps it in `aud`, and stored grants have the registered spelling.
    @Test func `an API that is registered with a slash keeps it`() async throws {
        let test = try await TestServer()
        let api = try await test.addAPI("https://read.example.com/", scope: "photos.read")
        let tokens = try await Attempt(test).adding("resource", Self.read).tokens()
        #expect(try Self.audience(tokens) == ["https://read.example.com/"])
        #expect(try await api.sees(tokens.accessToken.exposed))
    }

    // A grant holds its spelling; the API is registered again with another one.
    @Test func `a grant outlives a registration of its API in another spelling`() async throws {
        let test = try await Self.withAPIs()
        let client = try await test.register(
            "Stay", redirectURIs: ["http://127.0.0.1/callback"], scope: "offline_access photos.read")
        let attempt = Attempt(test, by: client, for: "offline_access photos.read").adding("resource", Self.read)
        let first = try await attempt.tokens()
        try await test.store.removeResource(try Resource(Self.read))
        _ = try await test.addAPI(Self.read + "/", scope: "photos.read")
        let refresh = FormParameters([
            "grant_type": "refresh_token", "client_id": client.id.rawValue,
            "refresh_token": try #require(first.refreshToken).exposed,
        ])
        #expect(try Self.audience(try await test.redeem(refresh).tokenResponse) == [Self.read + "/"])
    }

    // RFC 8707 §2: unknown, malformed, or with another path, port or query; the client gets the error.
    @Test(arguments: [
        "https://other.example.com", "https://read.example.com//", "http://read.example.com", "read.example.com",
        "/api", "https://read.example.com:8443", "https://read.example.com?", "https://user@read.example.com",
        "https://read.example.com#part", "https://write.example.com/v1", "https://write.example.com/v1/?a=b",
        "https://write.example.com/V1?a=b", "javascript:alert(1)", "é",
    ])
    func `an API that is not registered is refused by redirect`(resource: String) async throws {
        let test = try await Self.withAPIs()
        let error = try await Attempt(test).adding("resource", resource).error()
        #expect(error.code == .invalidTarget)
        let beside = try await Attempt(test).adding("resource", Self.read).adding("resource", resource).error()
        #expect(beside.code == .invalidTarget)
    }

    @Test func `too many resources are refused`() async throws {
        let test = try await Self.withAPIs()
        var attempt = Attempt(test)
        for number in 0...Resource.limit { attempt = attempt.adding("resource", "https://a\(number).example.com") }
        #expect(try await attempt.error().code == .invalidTarget)
    }

    // No other parameter may be repeated.
    @Test(arguments: ["scope", "state", "nonce"])
    func `another parameter is not repeated`(name: String) async throws {
        let test = try await Self.withAPIs()
        let attempt = Attempt(test).with(name, "openid").adding(name, "openid").adding("resource", Self.read)
        #expect(try await attempt.error().code == .invalidRequest)
    }

    // A token request names some of those resources; a refused one consumes nothing.
    @Test func `a code gives a token for some of the requested resources`() async throws {
        let test = try await Self.withAPIs()
        let attempt = Attempt(test, for: "photos.read photos.write")
            .adding("resource", Self.read).adding("resource", Self.write)
        let form = attempt.exchange(try await attempt.authorize().code)
        let refused = await test.redeem(form.adding("resource", "https://id.example.com"))
        #expect(try refused.tokenError.error == "invalid_target")
        let tokens = try await test.redeem(form.adding("resource", Self.write)).tokenResponse
        #expect(try Self.audience(tokens) == [Self.write])
    }

    // The API that followed from the scope is one of the grant.
    @Test func `a code without a resource gives a token for the API of its scope only`() async throws {
        let test = try await Self.withAPIs()
        let attempt = Attempt(test)
        let form = attempt.exchange(try await attempt.authorize().code)
        #expect(try await test.redeem(form.adding("resource", Self.write)).tokenError.error == "invalid_target")
        let tokens = try await test.redeem(form.adding("resource", Self.read)).tokenResponse
        #expect(try Self.audience(tokens) == [Self.read])
    }

    // A refresh token is valid for the granted scope and resources only.
    @Test func `a refresh token is bound to its grant`() async throws {
        let test = try await Self.withAPIs()
        let client = try await test.register(
            "Stay", redirectURIs: ["http://127.0.0.1/callback"], scope: "openid offline_access photos.read photos.write"
        )
        let attempt = Attempt(test, by: client, for: "offline_access photos.read").adding("resource", Self.read)
        let first = try await attempt.tokens()
        let form = FormParameters([
            "grant_type": "refresh_token", "client_id": client.id.rawValue,
            "refresh_token": try #require(first.refreshToken).exposed,
        ])
        let elsewhere = await test.redeem(form.adding("resource", Self.write))
        #expect(try elsewhere.tokenError.error == "invalid_target")
        let more = await test.redeem(form.adding("scope", "photos.read photos.write"))
        #expect(try more.tokenError.error == "invalid_scope")
        let second = try await test.redeem(form).tokenResponse
        #expect(try Self.audience(second) == [Self.read])
        #expect(second.scope == first.scope)
    }

    // An API that is deleted while the user decides is unknown afterwards.
    @Test func `an API that is deleted meanwhile is refused at the decision`() async throws {
        let test = try await Self.withAPIs()
        var browser = test.browser()
        let attempt = Attempt(test).adding("resource", Self.read)
        let consent = try await browser.signIn(
            on: try await browser.open(attempt.url), username: "alice", password: TestServer.password)
        try await test.store.removeResource(try Resource(Self.read))
        #expect(try await browser.decide(.allow, on: consent).redirectedError.code == .invalidTarget)
    }
}

extension IssuedTokens {
    /// Returns the grant of a token for any audience.
    fileprivate func grant(id tokens: TokenResponse) async throws -> Grant {
        let claims = try Self.parts(of: tokens.accessToken.exposed).claims
        let id = try #require((claims["grant_id"] as? String).flatMap(GrantIdentifier.init))
        return try #require(try await test.store.grant(id))
    }
}
