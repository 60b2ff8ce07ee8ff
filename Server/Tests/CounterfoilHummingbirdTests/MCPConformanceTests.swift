import CounterfoilHummingbird
import CounterfoilProtocol
import CounterfoilResource
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing

/// The checks of SEP-1932 for MCP servers in the MCP conformance suite, under their names, at the middleware.
@Suite("MCP conformance: DPoP at an MCP server")
struct MCPConformanceTests {
    private static let header = #"{"typ":"dpop+jwt","alg":"ES256","jwk":JWK}"#

    /// Sends requests to an MCP server behind the middleware.
    private static func at(
        _ server: ResourceServer, _ test: @escaping @Sendable (any TestClientProtocol) async throws -> Void
    ) async throws {
        let router = Router(context: BasicVerifiedAccessRequestContext.self)
        router.group("photos").requireScope(Scope(), of: server)
            .get { _, context in try context.requireUser().subject }
        try await Application(router: router).test(.router, test)
    }

    private static func send(_ request: HTTPRequest, to client: any TestClientProtocol) async throws -> TestResponse {
        try await client.executeRequest(
            uri: request.path ?? "/", method: request.method, headers: request.headerFields, body: nil)
    }

    /// Expects status 401 with an error in the challenge of DPoP (RFC 9449 §7.1).
    private static func expectRefused(
        _ request: HTTPRequest, by client: any TestClientProtocol, _ error: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let response = try await send(request, to: client)
        #expect(response.status == .unauthorized, sourceLocation: sourceLocation)
        let field = try #require(response.headers[.wwwAuthenticate], sourceLocation: sourceLocation)
        let challenge = try #require(
            AuthenticationChallenge.list(in: field).first { $0.scheme == "dpop" }, sourceLocation: sourceLocation)
        #expect(challenge["error"] == error, sourceLocation: sourceLocation)
        #expect(challenge["algs"]?.contains("ES256") == true, sourceLocation: sourceLocation)
    }

    // RFC 9449 §4.3; every step of the check is in `dpop-negative-tests`.
    @Test func `sep-1932-server-validate-proof, sep-1932-server-reject-401`() async throws {
        try await Authority.run { authority async throws in
            let prover = try Prover()
            let token = try authority.token(boundTo: prover)
            let other = try authority.token(boundTo: prover, scope: "photos.write")
            try await Self.at(authority.resourceServer()) { client in
                let accepted = try await Self.send(prover.request(token), to: client)
                #expect(accepted.status == .ok)
                #expect(String(buffer: accepted.body) == "anna")
                let used = try prover.proof(for: token)
                #expect(try await Self.send(.get(dpop: token, proofs: [used]), to: client).status == .ok)
                for proofs in [
                    [], ["not.a.proof"], [try prover.proof(for: token), try prover.proof(for: token)],
                    [try prover.proof(for: token, method: "POST")],
                    [try prover.proof(for: token, url: "https://photos.example/albums")],
                    [try prover.proof(for: other)], [used],
                ] {
                    try await Self.expectRefused(.get(dpop: token, proofs: proofs), by: client, "invalid_dpop_proof")
                }
                let stranger = try Prover().proof(for: token)
                try await Self.expectRefused(.get(dpop: token, proofs: [stranger]), by: client, "invalid_token")
            }
        }
    }

    // RFC 9449 §11.1: the window of SEP-1932 is five minutes in either direction.
    @Test(arguments: [(-299, true), (299, true), (-301, false), (301, false)] as [(TimeInterval, Bool)])
    func `sep-1932-server-iat-window`(offset: TimeInterval, isAccepted: Bool) async throws {
        try await Authority.run { authority async throws in
            let prover = try Prover()
            let token = try authority.token(boundTo: prover)
            let request = try prover.request(token, at: Authority.now.addingTimeInterval(offset))
            try await Self.at(authority.resourceServer()) { client in
                if isAccepted {
                    #expect(try await Self.send(request, to: client).status == .ok)
                } else {
                    try await Self.expectRefused(request, by: client, "invalid_dpop_proof")
                }
            }
        }
    }

    // RFC 9449 §9.
    @Test func `sep-1932-server-nonce`() async throws {
        try await Authority.run { authority async throws in
            let prover = try Prover()
            let token = try authority.token(boundTo: prover)
            try await Self.at(authority.resourceServer(proofs: ProofPolicy(nonces: .required()))) { client in
                let request = try prover.request(token)
                try await Self.expectRefused(request, by: client, "use_dpop_nonce")
                let nonces = try await Self.send(request, to: client).headers.proofNonces
                #expect(nonces.count == 1)
                let proven = try prover.request(token, nonce: nonces.first)
                #expect(try await Self.send(proven, to: client).status == .ok)
            }
        }
    }

    // RFC 8707 §2 and RFC 9068 §4: the proof is valid for this request, and the token was issued for another API.
    @Test(arguments: ["https://albums.example", "https://photos.example/other", "https://photos.example.evil.example"])
    func `sep-1932-server-audience-validation`(audience: String) async throws {
        try await Authority.run { authority async throws in
            let prover = try Prover()
            var claims = try authority.claims(audience: audience)
            claims.keyThumbprint = try prover.thumbprint
            let foreign = try #require(AccessToken(try authority.signingKey.sign(claims)))
            let own = try authority.token(boundTo: prover)
            try await Self.at(authority.resourceServer()) { client in
                try await Self.expectRefused(try prover.request(foreign), by: client, "invalid_token")
                #expect(try await Self.send(prover.request(own), to: client).status == .ok)
            }
        }
    }

    // RFC 9449 §11.6
    @Test(arguments: ["none", "HS256", "HS512"]) func `sep-1932-asymmetric-alg-only`(algorithm: String) async throws {
        try await Authority.run { authority async throws in
            let prover = try Prover()
            let token = try authority.token(boundTo: prover)
            let jwk = try prover.jwk()
            let claims = """
                {"jti":"1","htm":"GET","htu":"\(Prover.url)","iat":1800000000,\
                "ath":"\(DPoPProofClaims.hash(of: token))"}
                """
            let honest = Forgery(header: Self.header.replacing("JWK", with: jwk), claims: claims)
            let forged = Forgery(header: honest.header.replacing("ES256", with: algorithm), claims: claims)
            // The public key is known to everyone, so it must not be a secret of an HMAC.
            let proof = algorithm == "none" ? forged.unsigned : forged.authenticated(under: Data(jwk.utf8))
            try await Self.at(authority.resourceServer()) { client in
                try await Self.expectRefused(.get(dpop: token, proofs: [proof]), by: client, "invalid_dpop_proof")
                let signed = try honest.signed(by: prover.key)
                #expect(try await Self.send(.get(dpop: token, proofs: [signed]), to: client).status == .ok)
            }
        }
    }
}
