import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// UserInfo and introspection of tokens that are bound to a key (RFC 9449 §6.2 and §7).
struct BoundUserInfoTests {
    private static let url = "https://id.example.com/oauth2/userinfo"

    /// Tokens of alice with the scope `openid`, bound to a key.
    private struct Bound {
        let test: TestServer
        let key: TestProofKey
        let token: AccessToken

        init(
            scope: String = "openid profile", configure: (inout ServerSettings) -> Void = { _ in }
        ) async throws {
            test = try await TestServer(configure: configure)
            key = try TestProofKey()
            let attempt = Attempt(test, for: scope)
            let code = try await attempt.authorize().code
            let asked = await test.redeem(attempt.exchange(code), fields: try test.proving(key))
            if let tokens = try? asked.tokenResponse {
                token = tokens.accessToken
            } else {
                token = try await test.redeem(
                    attempt.exchange(code), fields: try test.proving(key, nonce: asked.proofNonce)
                ).tokenResponse.accessToken
            }
        }

        func userInfo(scheme: String = "DPoP", _ proof: String?) async throws -> Reply {
            var fields: HTTPFields = [.authorization: "\(scheme) \(token.exposed)"]
            if let proof { fields[try #require(HTTPField.Name("DPoP"))] = proof }
            return await test.send(.get, to: .userInfo, fields: fields)
        }

        func proof(presenting token: AccessToken? = nil, nonce: String? = nil) throws -> String {
            try key.proof(for: .get, BoundUserInfoTests.url, at: test.clock.wall, presenting: token, nonce: nonce)
        }
    }

    /// Expects status 401 with an error in the first challenge; a request with the scheme DPoP gets no other.
    private static func expectRefused(
        _ reply: Reply, _ code: String, schemes: [String] = ["dpop"],
        status: HTTPResponse.Status = .unauthorized
    ) throws {
        #expect(reply.status == status)
        let field = try #require(reply.fields[.wwwAuthenticate])
        let challenges = AuthenticationChallenge.list(in: field)
        #expect(challenges.map(\.scheme) == schemes)
        #expect(challenges.first?["error"] == code)
        #expect(challenges.last?["algs"] == "ES256 RS256 Ed25519 EdDSA")
    }

    // RFC 9449 §7.1
    @Test func `a bound token with a proof is accepted`() async throws {
        let bound = try await Bound()
        for scheme in ["DPoP", "dpop"] {
            let reply = try await bound.userInfo(scheme: scheme, try bound.proof(presenting: bound.token))
            #expect(reply.status == .ok)
            #expect(reply.proofNonce != nil)
        }
    }

    // RFC 9449 §7.2
    @Test func `a bound token is refused as a bearer token, with or without a proof`() async throws {
        let bound = try await Bound()
        for proof in [nil, try bound.proof(presenting: bound.token)] {
            let reply = try await bound.userInfo(scheme: "Bearer", proof)
            try Self.expectRefused(reply, "invalid_token", schemes: ["bearer", "dpop"])
        }
    }

    // At a resource, a bad proof is answered with 401.
    @Test func `a proof that is missing, of another token, of another key or used is refused with 401`() async throws {
        let bound = try await Bound()
        let other = try await Bound()
        let stranger = try TestProofKey().proof(
            for: .get, Self.url, at: bound.test.clock.wall, presenting: bound.token)
        try Self.expectRefused(try await bound.userInfo(nil), "invalid_dpop_proof")
        try Self.expectRefused(try await bound.userInfo(try bound.proof()), "invalid_dpop_proof")
        try Self.expectRefused(try await bound.userInfo(try bound.proof(presenting: other.token)), "invalid_dpop_proof")
        try Self.expectRefused(try await bound.userInfo(stranger), "invalid_token")
        let proof = try bound.proof(presenting: bound.token)
        #expect(try await bound.userInfo(proof).status == .ok)
        try Self.expectRefused(try await bound.userInfo(proof), "invalid_dpop_proof")
    }

    // RFC 9449 §11.1: the memory of used proofs contains only those of requests that were accepted.
    @Test func `a proof of a refused request was not used`() async throws {
        let revoked = try await Bound()
        let grants = try await revoked.test.store.grants(of: revoked.test.alice.id, after: nil, limit: 1)
        let grant = try #require(grants.first?.grant)
        _ = try await revoked.test.store.revokeGrant(grant.id, because: .user, at: revoked.test.clock.now)
        let disabled = try await Bound()
        let outcome = try await disabled.test.store.disableUser(
            disabled.test.alice.id, at: disabled.test.clock.now, recording: [])
        #expect(outcome == .changed)
        let withoutOpenID = try await Bound(scope: "photos.read")
        for (bound, error) in [
            (revoked, "invalid_token"), (disabled, "invalid_token"), (withoutOpenID, "insufficient_scope"),
        ] {
            let proof = try bound.proof(presenting: bound.token)
            for _ in 0..<2 {
                let challenge = try #require(try await bound.userInfo(proof).fields[.wwwAuthenticate])
                #expect(challenge.contains(#"error="\#(error)""#))
            }
        }
    }

    // RFC 9449 §7.1
    @Test func `an unbound token is refused with the scheme DPoP`() async throws {
        let test = try await TestServer()
        let token = try await Attempt(test, for: "openid").tokens().accessToken
        let proof = try TestProofKey().proof(for: .get, Self.url, at: test.clock.wall, presenting: token)
        let reply = await test.send(
            .get, to: .userInfo,
            fields: [.authorization: "DPoP \(token.exposed)", try #require(HTTPField.Name("DPoP")): proof])
        try Self.expectRefused(reply, "invalid_token")
    }

    // RFC 9449 §7.1: an error before the token is verified is in the challenge of DPoP, too.
    @Test(arguments: ["DPoP", "DPoP a b", "dpop a,b"])
    func `a malformed field of the scheme DPoP gets the challenge of DPoP alone`(field: String) async throws {
        let reply = try await TestServer().send(.get, to: .userInfo, fields: [.authorization: field])
        let isToken = field.hasSuffix("a,b")
        try Self.expectRefused(
            reply, isToken ? "invalid_token" : "invalid_request", status: isToken ? .unauthorized : .badRequest)
    }

    // RFC 9449 §9
    @Test func `a required nonce is demanded with 401`() async throws {
        let bound = try await Bound { $0.requiresProofNonce = true }
        let asked = try await bound.userInfo(try bound.proof(presenting: bound.token))
        try Self.expectRefused(asked, "use_dpop_nonce")
        let nonce = try #require(asked.proofNonce)
        #expect(try await bound.userInfo(try bound.proof(presenting: bound.token, nonce: nonce)).status == .ok)
    }

    // RFC 9449 §7.1
    @Test func `a request without a token is told both schemes`() async throws {
        let test = try await TestServer()
        let reply = await test.send(.get, to: .userInfo)
        #expect(reply.status == .unauthorized)
        #expect(
            reply.fields[.wwwAuthenticate] == #"Bearer realm="api", DPoP algs="ES256 RS256 Ed25519 EdDSA""#)
    }

    // RFC 9449 §6.2
    @Test func `introspection tells the key of a bound token`() async throws {
        let test = try await TestServer()
        let api = try await test.addAPI()
        let key = try TestProofKey()
        let attempt = Attempt(test).with("resource", api.resource.resource.rawValue)
        let tokens = try await test.redeem(
            attempt.exchange(try await attempt.authorize().code), fields: try test.proving(key)
        ).tokenResponse
        let reply = await api.introspect(tokens.accessToken.exposed)
        let text = try reply.text
        #expect(text.contains(#""token_type":"DPoP""#))
        #expect(text.contains(#""cnf":{"jkt":"\#(key.thumbprint)"}"#))
    }
}
