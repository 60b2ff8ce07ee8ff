import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// Groups and attributes of a user, which scopes of the owner release as claims.
struct OwnerClaimsTests {
    private static let photos = "https://photos.example.com"
    private static let everything = "openid profile offline_access directory photos.read"

    private let test: TestServer
    private let api: TestAPI
    private let client: RegisteredClient

    init() async throws {
        test = try await TestServer()
        let department = try #require(ClaimName("department"))
        let directory = ScopeDefinition(
            token: try #require(Scope.Token("directory")), description: "See your department",
            claims: ReleasedClaims(names: [.groups, department], places: [.idToken, .accessToken, .userInfo]))
        #expect(try await test.store.addScope(directory) == .added)
        api = try await test.addAPI(Self.photos, scope: "photos.read")
        client = try await test.register(
            "Stay", redirectURIs: ["http://127.0.0.1/callback"], scope: Self.everything)
        try await give(["staff", "editors"], ["department": "\"Sales\"", "floor": "3"])
    }

    /// Replaces the groups and attributes of alice.
    private func give(_ groups: [String], _ attributes: [String: String]) async throws {
        let values = try attributes.map { name, json in
            (try #require(ClaimName(name)), try #require(AttributeValue(json: json)))
        }
        let attributes = try UserAttributes(
            groups: Set(groups.compactMap { GroupName($0) }), values: Dictionary(uniqueKeysWithValues: values))
        let former = try await test.store.attributes(of: test.alice.id)
        let outcome = try await test.store.replaceAttributes(
            of: test.alice.id, from: former, by: attributes, at: test.clock.now, recording: [])
        #expect(outcome == .updated)
    }

    /// Changes the claims of a scope.
    private func release(_ names: Set<String>, by token: String, in places: Set<ReleasedClaims.Place>) async throws {
        let former = try #require(try await test.store.scopes().first { $0.token.rawValue == token })
        var scope = former
        scope.claims = ReleasedClaims(names: Set(names.compactMap { ClaimName($0) }), places: places)
        #expect(try await test.store.updateScope(scope, from: former) == .updated)
    }

    private func attempt(for scope: String) -> Attempt { Attempt(test, by: client, for: scope) }

    private func accessClaims(_ tokens: TokenResponse) throws -> [String: Any] {
        try IssuedTokens.parts(of: tokens.accessToken.exposed).claims
    }

    private func idClaims(_ tokens: TokenResponse) throws -> [String: Any] {
        try IssuedTokens.parts(of: try #require(tokens.idToken).exposed).claims
    }

    private func userInfo(_ tokens: TokenResponse) async throws -> [String: Any] {
        try await test.send(
            .get, to: .userInfo, fields: [.authorization: "Bearer \(tokens.accessToken.exposed)"]
        ).members
    }

    // SEC-870
    @Test func `a scope releases its claims where the owner has chosen, and no other scope does`() async throws {
        let tokens = try await attempt(for: "openid directory").tokens()
        for claims in [try idClaims(tokens), try accessClaims(tokens), try await userInfo(tokens)] {
            #expect(claims["groups"] as? [String] == ["editors", "staff"])
            #expect(claims["department"] as? String == "Sales")
            #expect(claims["floor"] == nil && claims["omitted_claims"] == nil)
        }
        let without = try await attempt(for: "openid profile").tokens()
        for claims in [try idClaims(without), try accessClaims(without), try await userInfo(without)] {
            #expect(claims["groups"] == nil && claims["department"] == nil)
        }
        try await release(["floor"], by: "directory", in: [.userInfo])
        let reduced = try await attempt(for: "openid directory").tokens()
        #expect(try idClaims(reduced)["floor"] == nil && accessClaims(reduced)["floor"] == nil)
        #expect(try await userInfo(reduced)["floor"] as? Int == 3)
        #expect(try await userInfo(reduced)["groups"] == nil)
    }

    // SEC-871
    @Test func `an access token for an API has only the claims of its scopes, and so has introspection`() async throws {
        try await release(["department"], by: "photos.read", in: [.accessToken])
        try await release(["groups"], by: "directory", in: [.idToken, .accessToken])
        let attempt = attempt(for: "openid directory photos.read").adding("resource", Self.photos)
        let tokens = try await attempt.tokens()
        let claims = try accessClaims(tokens)
        #expect(claims["scope"] as? String == "photos.read")
        #expect(claims["department"] as? String == "Sales" && claims["groups"] == nil)
        #expect(try idClaims(tokens)["groups"] as? [String] == ["editors", "staff"])
        #expect(try idClaims(tokens)["department"] == nil)
        let seen = try await api.introspect(tokens.accessToken.exposed).members
        #expect(seen["department"] as? String == "Sales" && seen["groups"] == nil)
    }

    @Test func `a scope with claims belongs to the server itself, beside the API of a token`() async throws {
        let tokens = try await attempt(for: "openid directory photos.read").tokens()
        try tokens.expect(audience: [Self.photos, "https://id.example.com"], scope: "openid directory photos.read")
        #expect(try await userInfo(tokens)["groups"] as? [String] == ["editors", "staff"])
        // The API sees the claims of its own scopes only.
        let seen = try await api.introspect(tokens.accessToken.exposed).members
        #expect(seen["scope"] as? String == "photos.read" && seen["groups"] == nil)
    }

    @Test func `tokens and UserInfo have what is stored now, and a narrowed token has less`() async throws {
        let attempt = attempt(for: "openid offline_access directory")
        let tokens = try await attempt.tokens()
        try await give(["guests"], ["floor": "4"])
        #expect(try await userInfo(tokens)["groups"] as? [String] == ["guests"])
        #expect(try await userInfo(tokens)["department"] == nil)
        let refreshed = try await attempt.refresh(tokens).tokenResponse
        #expect(try accessClaims(refreshed)["groups"] as? [String] == ["guests"])
        #expect(try idClaims(refreshed)["department"] == nil)
        let narrowed = try await attempt.refresh(refreshed, ["scope": "openid"]).tokenResponse
        #expect(try accessClaims(narrowed)["groups"] == nil && idClaims(narrowed)["groups"] == nil)
        try await give([], [:])
        #expect(try await Set(userInfo(narrowed).keys) == ["sub"])
        #expect(
            try await test.store.removeScope(
                try #require(Scope.Token("directory")), takingFromUses: true, at: test.clock.now)
                != .notFound)
        try await give(["staff"], [:])
        #expect(try await Set(userInfo(tokens).keys) == ["sub"])
    }

    // SEC-872
    @Test func `groups that are too large for a token are left out as a whole and named`() async throws {
        let groups = (0..<100).map { "\($0)-" + String(repeating: "g", count: 60) }
        try await give(groups, ["department": "\"Sales\""])
        let tokens = try await attempt(for: "openid directory").tokens()
        for claims in [try idClaims(tokens), try accessClaims(tokens)] {
            #expect(claims["groups"] == nil)
            #expect(claims["omitted_claims"] as? [String] == ["groups"])
            #expect(claims["department"] as? String == "Sales")
        }
        #expect(tokens.accessToken.exposed.utf8.count < 8192)
        let user = try await userInfo(tokens)
        #expect((user["groups"] as? [String])?.count == 100 && user["omitted_claims"] == nil)
    }

    // SEC-922
    @Test func `a scope that becomes reserved releases no more claims to a client without an approval`() async throws {
        try await release(["department"], by: "photos.read", in: [.accessToken])
        let tokens = try await attempt(for: "openid directory photos.read").tokens()
        #expect(try await userInfo(tokens)["department"] as? String == "Sales")
        #expect(try await api.introspect(tokens.accessToken.exposed).members["department"] as? String == "Sales")
        for former in try await test.store.scopes() where ["directory", "photos.read"].contains(former.token.rawValue) {
            var reserved = former
            reserved.isReserved = true
            #expect(try await test.store.updateScope(reserved, from: former) == .updated)
        }
        #expect(try await Set(userInfo(tokens).keys) == ["sub"])
        #expect(try await api.introspect(tokens.accessToken.exposed).members["department"] == nil)
        try await test.change(client) { $0.approval = .approved }
        #expect(try await userInfo(tokens)["department"] as? String == "Sales")
        #expect(try await api.introspect(tokens.accessToken.exposed).members["department"] as? String == "Sales")
    }

    // SEC-923
    @Test func `a claim by name asks for no scope of an API that the request does not name`() async throws {
        try await release(["department"], by: "photos.read", in: [.userInfo])
        try await release(["groups"], by: "directory", in: [.userInfo])
        let claims = #"{"userinfo":{"department":null,"groups":null}}"#
        let reply = try await attempt(for: "openid").with("claims", claims).afterSignIn().reply
        #expect(try reply.consentPage.permissions.map(\.scope) == ["openid", "directory"])
    }

    // OpenID Connect Core §5.5
    @Test func `a claim by name asks for a scope that releases it in the place that is named`() async throws {
        try await release(["department", "groups"], by: "directory", in: [.userInfo])
        let claims = #"{"userinfo":{"department":null},"id_token":{"groups":null}}"#
        let attempt = attempt(for: "openid").with("claims", claims)
        var (browser, reply) = try await attempt.afterSignIn()
        #expect(try reply.consentPage.permissions.map(\.scope) == ["openid", "directory"])
        reply = try await browser.decide(.allow, on: reply)
        let tokens = try await test.redeem(attempt.exchange(try reply.code)).tokenResponse
        #expect(tokens.scope?.description == "openid")
        #expect(try idClaims(tokens)["groups"] == nil)
        let user = try await userInfo(tokens)
        #expect(Set(user.keys) == ["sub", "department"] && user["department"] as? String == "Sales")
    }

    @Test func `the metadata have the claims of listed scopes only`() async throws {
        func supported() async throws -> Set<String> {
            Set(try await test.send(.get, to: .metadata).members["claims_supported"] as? [String] ?? [])
        }
        #expect(try await supported().isDisjoint(with: ["groups", "department"]))
        let former = try #require(try await test.store.scopes().first { $0.token.rawValue == "directory" })
        var listed = former
        listed.isListed = true
        #expect(try await test.store.updateScope(listed, from: former) == .updated)
        #expect(try await supported().isSuperset(of: ["groups", "department", "email"]))
    }
}
