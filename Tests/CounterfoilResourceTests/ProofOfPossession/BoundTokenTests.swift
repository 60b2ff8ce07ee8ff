import CounterfoilProtocol
import CounterfoilResource
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// An API that accepts tokens that are bound to a key (RFC 9449 §7).
@Suite struct BoundTokenTests {
    private func refusal(
        of request: HTTPRequest, by server: ResourceServer, requiring scope: Scope = Scope()
    ) async throws -> AccessRefusal {
        try await #require(throws: AccessRefusal.self) { try await server.access(for: request, requiring: scope) }
    }

    /// The error of the first challenge; a request with the scheme DPoP gets the challenge of this scheme alone.
    private func error(in refusal: AccessRefusal, of schemes: [String]) throws -> String? {
        let field = try #require(refusal.headerFields[.wwwAuthenticate])
        let challenges = AuthenticationChallenge.list(in: field)
        #expect(challenges.map(\.scheme) == schemes)
        #expect(challenges.dropFirst().allSatisfy { $0["error"] == nil })
        return challenges.first?["error"]
    }

    // RFC 9449 §7.1.
    @Test func `a bound token with a proof of its key is accepted`() async throws {
        try await Authority.run { authority async throws in
            let prover = try Prover()
            let token = try authority.token(boundTo: prover)
            let server = authority.resourceServer()
            let access = try await server.access(
                for: prover.request(token), requiring: try Scope(parsing: "photos.read"))
            #expect(access.subject == "anna")
            #expect(access.keyThumbprint == (try prover.thumbprint))
            // The query is not part of the proof, and the scheme is case-insensitive.
            var request = try prover.request(token, path: "/photos?page=2")
            request.headerFields[.authorization] = "dpop \(token.exposed)"
            #expect(try await server.access(for: request).subject == "anna")
            // An API with bound tokens accepts bearer tokens too.
            let bearer = try await server.access(for: .get(authorization: "Bearer \(authority.token())"))
            #expect(bearer.keyThumbprint == nil)
        }
    }

    // RFC 9449 §7.2.
    @Test func `a bound token as Bearer is refused, also beside a valid proof`() async throws {
        try await Authority.run { authority async throws in
            let prover = try Prover()
            let token = try authority.token(boundTo: prover)
            var request = try prover.request(token)
            request.headerFields[.authorization] = "Bearer \(token.exposed)"
            for request in [request, .get(authorization: "Bearer \(token.exposed)")] {
                let refusal = try await refusal(of: request, by: authority.resourceServer())
                #expect(refusal.status == .unauthorized)
                #expect(try error(in: refusal, of: ["bearer", "dpop"]) == "invalid_token")
                #expect(refusal.error?.description?.contains("send it with the scheme DPoP") == true)
            }
        }
    }

    // RFC 9449 §7.1: a proof must not suggest a protection that the token does not have.
    @Test func `an unbound token with the scheme DPoP is refused`() async throws {
        try await Authority.run { authority async throws in
            let token = try #require(AccessToken(try authority.token()))
            let refusal = try await refusal(of: Prover().request(token), by: authority.resourceServer())
            #expect(refusal.status == .unauthorized)
            #expect(try error(in: refusal, of: ["dpop"]) == "invalid_token")
            #expect(refusal.error?.description?.contains("send it with the scheme Bearer") == true)
        }
    }

    // RFC 9449 §7.2: the proof is no part of a Bearer request.
    @Test func `a proof beside an unbound bearer token is ignored`() async throws {
        try await Authority.run { authority async throws in
            let token = try #require(AccessToken(try authority.token()))
            for proof in [try Prover().proof(for: token), "nonsense"] {
                var request = HTTPRequest.get(dpop: token, proofs: [proof])
                request.headerFields[.authorization] = "Bearer \(token.exposed)"
                let access = try await authority.resourceServer().access(for: request)
                #expect(access.keyThumbprint == nil)
            }
        }
    }

    // RFC 9449 §7.1: the proof is valid, and the token is not one of its key.
    @Test func `a bound token with the proof of another key is refused`() async throws {
        try await Authority.run { authority async throws in
            let token = try authority.token(boundTo: Prover())
            let refusal = try await refusal(of: Prover().request(token), by: authority.resourceServer())
            #expect(refusal.status == .unauthorized)
            #expect(try error(in: refusal, of: ["dpop"]) == "invalid_token")
            #expect(refusal.error?.description?.contains("another key") == true)
        }
    }

    // RFC 9110 §11.6.1: a challenge is one that applies to the resource, so Bearer is not among them.
    @Test func `an API that requires bound tokens refuses all others`() async throws {
        try await Authority.run { authority async throws in
            let server = authority.resourceServer(proofs: ProofPolicy(requiresBoundTokens: true))
            let refusal = try await refusal(of: .get(authorization: "Bearer \(authority.token())"), by: server)
            #expect(refusal.status == .unauthorized)
            #expect(try error(in: refusal, of: ["dpop"]) == "invalid_token")
            #expect(refusal.error?.description?.contains("only tokens that are bound to a key") == true)
            let unasked = try await self.refusal(of: .get(), by: server)
            #expect(try error(in: unasked, of: ["dpop"]) == nil)
            let prover = try Prover()
            let token = try authority.token(boundTo: prover)
            let access = try await server.access(for: prover.request(token))
            #expect(server.recognizes(access))
            let bearer = try await authority.resourceServer().access(
                for: .get(authorization: "Bearer \(authority.token())"))
            #expect(!server.recognizes(bearer))
        }
    }

    // RFC 9449 §7.1: errors about the token are in the challenge of its scheme, with what a client needs to react.
    @Test func `a bound token with too little scope is insufficient`() async throws {
        try await Authority.run { authority async throws in
            let prover = try Prover()
            let token = try authority.token(boundTo: prover)
            let refusal = try await refusal(
                of: prover.request(token), by: authority.resourceServer(), requiring: try Scope(parsing: "photos.write")
            )
            #expect(refusal.status == .forbidden)
            #expect(try error(in: refusal, of: ["dpop"]) == "insufficient_scope")
            #expect(refusal.proofChallenge?.scope?.description == "photos.write")
            #expect(refusal.challenge == nil)

            let server = authority.resourceServer()
            let access = try await server.access(for: prover.request(token))
            let old = try #require(throws: AccessRefusal.self) {
                try server.require(AuthenticationRequirement(maxAge: 60, contexts: ["urn:example:mfa"]), of: access)
            }
            #expect(try error(in: old, of: ["dpop"]) == "insufficient_user_authentication")
            #expect(old.headerFields[.wwwAuthenticate]?.contains(#"max_age="60""#) == true)
        }
    }

    // RFC 7662 §2.2, RFC 9449 §6.2: the claim of the token decides, and the server must not contradict it.
    @Test(arguments: [
        (#"{"active":true,"cnf":{"jkt":"JKT"},"token_type":"DPoP"}"#, true, false),
        (#"{"active":true,"token_type":"dpop"}"#, true, false), (#"{"active":true,"token_type":"Bearer"}"#, true, true),
        (#"{"active":true}"#, true, true), (#"{"active":false,"cnf":{"jkt":"JKT"}}"#, false, false),
        (#"{"active":true,"cnf":{"jkt":"0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"}}"#, false, false),
        (#"{"active":true,"cnf":{"x5t#S256":"x"}}"#, false, false), (#"{"active":true,"cnf":{}}"#, false, false),
    ])
    func `introspection must not contradict the key of the token`(
        response: String, isGoodForBound: Bool, isGoodForBearer: Bool
    ) async throws {
        try await Authority.run { authority async throws in
            let server = authority.resourceServer(
                introspection: TokenIntrospection(
                    clientID: try #require(ClientIdentifier("api_photos")),
                    clientSecret: try #require(ClientSecret("s3cret"))))
            let prover = try Prover()
            let bound = try authority.token(boundTo: prover)
            let bearer = try authority.token()
            let answer = response.replacing("JKT", with: try prover.thumbprint.rawValue)
            authority.change { $0.introspectionResponses = [bound.exposed: answer, bearer: answer] }
            for (request, isGood) in [
                (try prover.request(bound), isGoodForBound),
                (HTTPRequest.get(authorization: "Bearer \(bearer)"), isGoodForBearer),
            ] {
                if isGood {
                    #expect(try await server.access(for: request).subject == "anna")
                } else {
                    let refusal = try await refusal(of: request, by: server)
                    #expect(refusal.status == .unauthorized)
                    #expect(refusal.error?.code == .invalidToken)
                }
            }
        }
    }
}
