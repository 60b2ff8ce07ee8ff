import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// The audience of a token whose request names no API: it follows from the scope (RFC 9068 §3).
struct AudienceOfScopeTests {
    private static let photos = "https://photos.example.com"
    private static let albums = "https://albums.example.com"
    private static let server = "https://id.example.com"
    private static let several =
        "the requested scope belongs to several APIs: https://albums.example.com (photos.write), "
        + "https://photos.example.com (photos.read); name the APIs of the token with resource=URI (RFC 8707), or "
        + "request the scopes of one API"

    private let test: TestServer

    init() async throws { test = try await TestServer() }

    /// Registers the APIs of `photos.read` and `photos.write`; `photos.delete` belongs to no API.
    private static func addAPIs(_ test: TestServer) async throws -> TestAPI {
        _ = try await test.addAPI(albums, scope: "photos.write")
        return try await test.addAPI(photos, scope: "photos.read")
    }

    /// A client with refresh tokens and every scope, one of which is optional.
    private func attempt(_ test: TestServer? = nil, for scope: String?) async throws -> Attempt {
        let test = test ?? self.test
        let client = try await test.register(
            "Stay", redirectURIs: ["http://127.0.0.1/callback"],
            scope: "openid profile offline_access photos.read photos.write photos.delete",
            optionalScope: "photos.read")
        return Attempt(test, by: client, for: scope)
    }

    private func expectSeveral(
        _ error: (code: String, description: String?), sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(error.code == "invalid_scope", sourceLocation: sourceLocation)
        #expect(error.description == Self.several, sourceLocation: sourceLocation)
    }

    // MARK: - One API

    // RFC 9068 §3; OpenID Connect Core §5.3: the same token is accepted at UserInfo.
    @Test func `the scopes of one API give a token for that API, and for UserInfo with openid`() async throws {
        let api = try await Self.addAPIs(test)
        let attempt = try await attempt(for: "openid profile offline_access photos.read")
        var tokens = try await attempt.tokens()
        for _ in 1...2 {
            try tokens.expect(audience: [Self.photos, Self.server], scope: "openid profile photos.read")
            // RFC 6749 §5.1: the response also states what no API gets to see.
            #expect(tokens.scope?.description == "openid profile offline_access photos.read")
            #expect(tokens.idToken != nil)
            #expect(await test.userInfo(tokens).status == .ok)
            let members = try await api.introspect(tokens.accessToken.exposed).members
            #expect(members["scope"] as? String == "photos.read")
            #expect(members["aud"] as? String == Self.photos)
            tokens = try await attempt.refresh(tokens).tokenResponse
        }
    }

    @Test func `without openid the token is for the API alone`() async throws {
        let api = try await Self.addAPIs(test)
        let tokens = try await attempt(for: "profile photos.read").tokens()
        try tokens.expect(audience: [Self.photos], scope: "photos.read")
        #expect(try await api.sees(tokens.accessToken.exposed))
        #expect(await test.userInfo(tokens).status == .unauthorized)
    }

    // RFC 6749 §6: a narrower token is for the APIs of its scopes.
    @Test func `a refresh with a narrower scope gives a token for the API of that scope`() async throws {
        _ = try await Self.addAPIs(test)
        let attempt = try await attempt(for: "openid offline_access photos.read")
        var tokens = try await attempt.tokens()
        for (parameter, value, audience, scope) in [
            ("scope", "photos.read", Self.photos, "photos.read"), ("scope", "openid", Self.server, "openid"),
            ("resource", Self.photos, Self.photos, "photos.read"), ("resource", Self.server, Self.server, "openid"),
        ] {
            tokens = try await attempt.refresh(tokens, [parameter: value]).tokenResponse
            try tokens.expect(audience: [audience], scope: scope)
        }
        tokens = try await attempt.refresh(tokens).tokenResponse
        try tokens.expect(audience: [Self.photos, Self.server], scope: "openid photos.read")
    }

    @Test(arguments: [nil, ""])
    func `a request without a scope is for the API of the default scope`(scope: String?) async throws {
        _ = try await test.addAPI(Self.photos, scope: "photos.read photos.write")
        let attempt = Attempt(test, for: scope)
        try await attempt.tokens().expect(audience: [Self.photos], scope: "photos.read photos.write")
    }

    // The user declines the only scope of the API, and has signed in.
    @Test func `if the user leaves out all scopes of the API, the token is for UserInfo`() async throws {
        _ = try await Self.addAPIs(test)
        let attempt = try await attempt(for: "openid photos.read")
        var (browser, reply) = try await attempt.afterSignIn()
        reply = try await browser.decide(.allow, on: reply, leavingOut: ["photos.read"])
        let tokens = try await test.redeem(attempt.exchange(reply.code)).tokenResponse
        try tokens.expect(audience: [Self.server], scope: "openid")
        #expect(await test.userInfo(tokens).status == .ok)
    }

    @Test func `a device gets a token for the API of its scope`() async throws {
        _ = try await Self.addAPIs(test)
        let device = try await TestDevice(test, scope: "openid photos.read photos.write")
        let codes = try await device.codes(["scope": "openid photos.read"])
        var browser = test.browser()
        _ = try await browser.answer(codes)
        let tokens = try await device.poll(codes).tokenResponse
        try tokens.expect(audience: [Self.photos, Self.server], scope: "openid photos.read")
        #expect(await test.userInfo(tokens).status == .ok)
        let refused = try await device.request(["scope": "photos.read photos.write"]).tokenError
        expectSeveral((refused.error, refused.errorDescription))
    }

    @Test func `a pushed request gets a token for the API of its scope`() async throws {
        _ = try await Self.addAPIs(test)
        let attempt = try await attempt(for: "openid photos.read")
        let code = try await PushedAttempt(attempt).authorize().code
        let tokens = try await test.redeem(attempt.exchange(code)).tokenResponse
        try tokens.expect(audience: [Self.photos, Self.server], scope: "openid photos.read")
        let refused = try await attempt.with("scope", "photos.read photos.write").push().tokenError
        expectSeveral((refused.error, refused.errorDescription))
    }

    // RFC 6749 §4.4
    @Test func `a service gets a token for the API of its scope`() async throws {
        let api = try await Self.addAPIs(test)
        let service = try await test.addService(scope: "photos.read photos.write photos.delete")
        let token = try await service.token(["scope": "photos.read"])
        try token.expect(audience: [Self.photos], scope: "photos.read")
        #expect(token.scope?.description == "photos.read")
        #expect(try await api.sees(token.accessToken.exposed))
        try await service.token(["scope": "photos.delete"]).expect(audience: [Self.server], scope: "photos.delete")
        // Without a scope, it requests every approved scope.
        let refused = try await test.redeem(
            FormParameters(["grant_type": "client_credentials"]), fields: service.fields
        ).tokenError
        expectSeveral((refused.error, refused.errorDescription))
        // An API of a scope that the service may not have is not named.
        let reader = try await test.addService("Reader", scope: "photos.read")
        let foreign = FormParameters(["grant_type": "client_credentials", "scope": "photos.read photos.write"])
        let unassigned = try await test.redeem(foreign, fields: reader.fields).tokenError
        #expect(unassigned.errorDescription?.contains(Self.albums) == false)
    }

    // RFC 8707 §2: the policy for unregistered clients judges the API that follows from the scope.
    @Test func `an unregistered client gets a token for the API of its scope, if the policy contains it`() async throws
    {
        _ = try await Self.addAPIs(test)
        let photos = try Resource(Self.photos)
        try await test.acceptUnregisteredClients { $0.resources = [photos] }
        let client = try await test.selfRegisteredClient()
        let tokens = try await Attempt(test, by: client, for: "openid photos.read").tokens()
        try tokens.expect(audience: [Self.photos, Self.server], scope: "openid photos.read")
        #expect(try await Attempt(test, by: client, for: "photos.write").error().code == .invalidTarget)
        // Such a client may request more than it may have, and the excess has no influence.
        let wide = try await Attempt(test, by: client, for: "openid photos.read photos.delete").tokens()
        try wide.expect(audience: [Self.photos, Self.server], scope: "openid photos.read")
        // The error names no API that the policy does not contain.
        let both = Attempt(test, by: client, for: "photos.read photos.write")
        let advice = "; name the APIs of the token with resource=URI (RFC 8707), or request the scopes of one API"
        let cases: [([Resource], String)] = [([photos], ": https://photos.example.com (photos.read)"), ([], "")]
        for (allowed, names) in cases {
            try await test.acceptUnregisteredClients { $0.resources = allowed }
            let refused = try await both.error()
            #expect(refused.code == .invalidScope)
            #expect(refused.description == "the requested scope belongs to several APIs" + names + advice)
        }
        try await test.acceptUnregisteredClients { $0.resources = nil }
        let refused = try await both.error()
        expectSeveral((refused.code.rawValue, refused.description))
    }

    // RFC 9068 §4: the type is that of the API; UserInfo accepts both.
    @Test func `the token has the type of the API`() async throws {
        let api = try await test.addAPI(Self.photos, scope: "photos.read", tokenType: .jwt)
        let tokens = try await attempt(for: "openid photos.read").tokens()
        #expect(try IssuedTokens.parts(of: tokens.accessToken.exposed).header["typ"] as? String == "JWT")
        #expect(try await api.sees(tokens.accessToken.exposed))
        #expect(await test.userInfo(tokens).status == .ok)
    }

    // RFC 9728 §2: `dpop_bound_access_tokens_required`
    @Test func `an API that requires bound tokens gets no other token for its scope`() async throws {
        _ = try await test.addAPI(Self.photos, scope: "photos.read", requiresBoundTokens: true)
        let attempt = try await attempt(for: "openid photos.read")
        let form = attempt.exchange(try await attempt.authorize().code)
        #expect(try await test.redeem(form).tokenError.error == "invalid_dpop_proof")
        let tokens = try await test.redeem(form, fields: try test.proving(try TestProofKey())).tokenResponse
        #expect(tokens.tokenType == "DPoP")
        try tokens.expect(audience: [Self.photos, Self.server], scope: "openid photos.read")
        let service = try await test.addService()
        let unproven = await test.redeem(FormParameters(["grant_type": "client_credentials"]), fields: service.fields)
        #expect(try unproven.tokenError.error == "invalid_dpop_proof")
    }

    // MARK: - Several APIs, and none

    // RFC 9068 §3: `invalid_scope`, which names the APIs and the parameter.
    @Test func `the scopes of several APIs are refused without resource`() async throws {
        _ = try await Self.addAPIs(test)
        for scope in ["photos.read photos.write", "openid photos.read photos.write photos.delete"] {
            let error = try await attempt(for: scope).error()
            expectSeveral((error.code.rawValue, error.description))
        }
        let named = try await attempt(for: "photos.read photos.write")
            .adding("resource", Self.photos).adding("resource", Self.albums).tokens()
        try named.expect(audience: [Self.photos, Self.albums], scope: "photos.read photos.write")
    }

    @Test func `a scope of several APIs is refused without resource, and the error names a few of them`() async throws {
        for number in 1...7 { _ = try await test.addAPI("https://a\(number).example.com", scope: "photos.read") }
        let error = try await attempt(for: "photos.read").error()
        #expect(error.code == .invalidScope)
        #expect(error.description?.contains("https://a5.example.com (photos.read) and 2 more; name the APIs") == true)
    }

    @Test func `an API that has all scopes of the request is chosen before one that has some`() async throws {
        _ = try await test.addAPI(Self.photos, scope: "photos.read photos.write")
        _ = try await test.addAPI(Self.albums, scope: "photos.read")
        let tokens = try await attempt(for: "photos.read photos.write").tokens()
        try tokens.expect(audience: [Self.photos], scope: "photos.read photos.write")
        #expect(try await attempt(for: "photos.read").error().code == .invalidScope)
    }

    @Test(arguments: ["photos.delete", "openid profile", "openid photos.delete"])
    func `scopes of no API give a token for the default audience`(scope: String) async throws {
        for audience in [Self.server, "https://api.example.com"] {
            let test = try await TestServer { $0.defaultAudience = audience }
            _ = try await Self.addAPIs(test)
            try await attempt(test, for: scope).tokens().expect(audience: [audience], scope: scope)
        }
    }

    // RFC 9068 §2.2.3: every scope of the token has a meaning at its audience.
    @Test func `a scope of no API is left out beside the scope of an API`() async throws {
        _ = try await Self.addAPIs(test)
        let attempt = try await attempt(for: "openid photos.read photos.delete")
        var (browser, reply) = try await attempt.afterSignIn()
        #expect(try reply.consentPage.permissions.map(\.scope) == ["openid", "photos.read"])
        reply = try await browser.decide(.allow, on: reply)
        let tokens = try await test.redeem(attempt.exchange(reply.code)).tokenResponse
        try tokens.expect(audience: [Self.photos, Self.server], scope: "openid photos.read")
        #expect(tokens.scope?.description == "openid photos.read")
    }

    // The owner has chosen this API for the tokens that name none.
    @Test func `the API with the default audience is chosen before another with the same scopes`() async throws {
        let test = try await TestServer { $0.defaultAudience = Self.albums }
        for uri in [Self.photos, Self.albums] { _ = try await test.addAPI(uri, scope: "photos.read") }
        let tokens = try await attempt(test, for: "openid photos.read photos.delete").tokens()
        try tokens.expect(audience: [Self.albums], scope: "openid photos.read photos.delete")
        #expect(await test.userInfo(tokens).status == .ok)
        // The API has only one of these scopes.
        _ = try await test.addAPI("https://prints.example.com", scope: "photos.write")
        #expect(try await attempt(test, for: "photos.read photos.write").error().code == .invalidScope)
    }

    // MARK: - Changes of the registration

    // A grant whose request named no API, and for which none was registered.
    @Test func `a refresh follows the scope if the grant names no API`() async throws {
        let attempt = try await attempt(for: "openid offline_access photos.read photos.write")
        var tokens = try await attempt.tokens()
        try tokens.expect(audience: [Self.server], scope: "openid offline_access photos.read photos.write")
        _ = try await test.addAPI(Self.photos, scope: "photos.read")
        tokens = try await attempt.refresh(tokens).tokenResponse
        try tokens.expect(audience: [Self.photos, Self.server], scope: "openid photos.read")
        #expect(tokens.scope?.description == "openid offline_access photos.read")
        // An API that another registration adds.
        _ = try await test.addAPI(Self.albums, scope: "photos.write")
        let refused = try await attempt.refresh(tokens).tokenError
        expectSeveral((refused.error, refused.errorDescription))
        let narrower = try await attempt.refresh(tokens, ["scope": "openid photos.write"]).tokenResponse
        try narrower.expect(audience: [Self.albums, Self.server], scope: "openid photos.write")
        // RFC 8707 §2.2: the grant names no API, so the client cannot name one.
        let named = try await attempt.refresh(narrower, ["resource": Self.photos])
        #expect(try named.tokenError.error == "invalid_target")
    }

    @Test func `another API with the same scope changes nothing for an existing grant`() async throws {
        _ = try await Self.addAPIs(test)
        let attempt = try await attempt(for: "openid offline_access photos.read")
        let tokens = try await attempt.tokens()
        _ = try await test.addAPI("https://prints.example.com", scope: "photos.read")
        let refreshed = try await attempt.refresh(tokens).tokenResponse
        try refreshed.expect(audience: [Self.photos, Self.server], scope: "openid photos.read")
        #expect(try await attempt.error().code == .invalidScope)
    }

    @Test func `a request without resource looks the APIs up in the cache`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        _ = try await Self.addAPIs(test)
        let attempt = try await attempt(test, for: "openid offline_access photos.read")
        let service = try await test.addService()
        var tokens = try await attempt.tokens()
        _ = try await service.token()
        let before = store.calls(of: .resource)
        tokens = try await attempt.refresh(tokens).tokenResponse
        _ = try await attempt.refresh(tokens).tokenResponse
        _ = try await service.token()
        _ = try await attempt.tokens()
        #expect(store.calls(of: .resource) == before)
    }
}
