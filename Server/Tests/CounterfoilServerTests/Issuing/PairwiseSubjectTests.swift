import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// Pairwise identifiers of users and of their sessions (OpenID Connect Core §8).
struct PairwiseSubjectTests {
    // OpenID Connect Core §8.1
    @Test func `a pairwise subject identifier is stable and reveals nothing`() async throws {
        let party = try await RelyingParty(subjectType: .pairwise)
        let first = try await party.tokens()
        let second = try await party.tokens()
        let name = try #require(try party.claims(first)["sub"] as? String)
        #expect(try party.claims(second)["sub"] as? String == name)
        #expect(name != party.test.alice.id.rawValue)
        #expect(name.utf8.count <= 255)
        #expect(try await party.user(first.accessToken)["sub"] as? String == name)
        #expect(try await IssuedTokens(party.test).verified(first.accessToken).subject == name)
    }

    // Clients of one host get the same identifier, those of another host a different one.
    @Test func `the host decides the subject identifier`() async throws {
        let party = try await RelyingParty(subjectType: .pairwise)
        var policy = ClientPolicy.standard(for: .native)
        policy.subjectType = .pairwise
        policy.requiresState = false
        let same = try await party.test.register(
            "Same", at: ["https://rp.example.net/app"], under: policy)
        let other = try await party.test.register(
            "Other", at: ["https://elsewhere.example.net/app"], under: policy)
        let name = try party.claims(try await party.tokens())["sub"] as? String
        let atSame = try party.claims(
            try await Attempt(party.test, by: same, at: "https://rp.example.net/app", for: "openid").tokens())["sub"]
        let atOther = try party.claims(
            try await Attempt(party.test, by: other, at: "https://elsewhere.example.net/app", for: "openid").tokens())[
                "sub"]
        #expect(atSame as? String == name)
        #expect(atOther as? String != name)
    }

    // Two hosts with one session identifier would know that they have the same user.
    @Test func `the host decides the session identifier`() async throws {
        let party = try await RelyingParty(subjectType: .pairwise)
        var policy = ClientPolicy.standard(for: .native)
        policy.requiresState = false
        var browser = party.test.browser()
        func name(at address: String, _ type: SubjectType, in browser: inout ScriptedUserAgent) async throws -> String {
            policy.subjectType = type
            let client = try await party.test.register(address, at: [address], under: policy)
            let tokens = try await Attempt(party.test, by: client, at: address, for: "openid").tokens(in: &browser)
            return try #require(try party.claims(tokens)["sid"] as? String)
        }
        let first = try party.claims(try await party.tokens(party.attempt(), in: &browser))
        let again = try party.claims(try await party.tokens(party.attempt(), in: &browser))
        let known = try #require(first["sid"] as? String)
        #expect(again["sid"] as? String == known)
        let session = try #require(try await party.test.store.sessions(of: party.test.alice.id).first).id.rawValue
        #expect(try await name(at: "https://rp.example.net/app", .pairwise, in: &browser) == known)
        #expect(try await name(at: "https://rp.example.net/open", .public, in: &browser) == session)
        let elsewhere = try await name(at: "https://elsewhere.example.net/app", .pairwise, in: &browser)
        #expect(Set([known, elsewhere, session]).count == 3)
    }

    // An expired session is found by its pairwise identifier, so that its grants are revoked.
    @Test func `signing out after the session expired revokes its grants`() async throws {
        let party = try await RelyingParty { $0.sessionIdleLifetime = 300 }
        var policy = ClientPolicy.standard(for: .singlePage)
        policy.subjectType = .pairwise
        policy.requiresState = false
        let page = "https://album.example.net/"
        let album = try await party.test.register("Album", type: .singlePage, at: [page], under: policy)
        let tokens = try await Attempt(party.test, by: album, at: page, for: "openid").tokens()
        party.test.clock.advance(by: 301)
        #expect(await party.userInfo(tokens.accessToken).status == .ok)
        var browser = party.test.browser()
        let hint = try #require(tokens.idToken).exposed
        _ = try await browser.open("/oauth2/logout?" + FormParameters(["id_token_hint": hint]).encoded).signedOutPage
        #expect(await party.userInfo(tokens.accessToken).status == .unauthorized)
    }

    // A pairwise identifier works as a hint for its own client.
    @Test func `a hint with a pairwise subject identifier names the user`() async throws {
        let party = try await RelyingParty(subjectType: .pairwise)
        var browser = party.test.browser()
        let hint = try #require(try await party.tokens(party.attempt(), in: &browser).idToken).exposed
        let reply = try await browser.open(party.attempt(with: ["id_token_hint": hint, "prompt": "none"]).url)
        _ = try reply.code
        let ended = try await browser.open("/oauth2/logout?" + FormParameters(["id_token_hint": hint]).encoded)
        _ = try ended.signedOutPage
    }
}
