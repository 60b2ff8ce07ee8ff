import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// The checks of SEP-1932 for clients in the MCP conformance suite, under their names.
@Suite("MCP conformance: DPoP of a client", .timeLimit(.minutes(2)))
struct MCPProofConformanceTests {
    /// A proof that the client has sent, and its parts.
    private struct SentProof {
        let header: [String: Any]
        let claims: [String: Any]

        /// Reads the only proof of a request; a missing one fails the test.
        init(of request: RecordedRequest) throws {
            let fields = request.headerFields[values: try #require(HTTPField.Name("DPoP"))]
            #expect(fields.count == 1)
            let parts = try #require(fields.first).split(separator: ".").prefix(2).map { part in
                let bytes = try #require(Base64URL.decode(String(part)))
                return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
            }
            (header, claims) = (parts[0], parts[1])
        }
    }

    private static var binding: NativeSignIn.Options {
        var options = NativeSignIn.Options()
        options.bindsTokens = true
        return options
    }

    /// Signs in at a server that accepts bound tokens only, and calls its API.
    private static func run(
        token: DPoPScript.NonceRule = .none, api: DPoPScript.NonceRule = .none, calls: Int = 1,
        _ test: @escaping @Sendable (ScriptedAuthorizationServer, Credentials) async throws -> Void
    ) async throws {
        var script = ServerScript(.requiresDPoP)
        (script.dpop.tokenNonce, script.dpop.apiNonce) = (token, api)
        try await ScriptedAuthorizationServer.run(script) { server in
            let credentials = try await SignedIn.at(server, in: MemoryTokenStore(), options: binding)
            let client = ResourceClient(credentials)
            for _ in 0..<calls { #expect(try await client.get(server.url(of: .api)).statusCode == 200) }
            try await test(server, credentials)
        }
    }

    // RFC 9449 §7.1
    @Test func `sep-1932-client-dpop-auth-scheme`() async throws {
        try await Self.run { server, credentials in
            let sent = server.requests(to: .api).map(\.authorization)
            #expect(sent == ["DPoP \(credentials.accessToken.exposed)"])
        }
    }

    // RFC 9449 §4.2 and §7: each proof is one of its own, for this request and this token.
    @Test func `sep-1932-client-fresh-proof`() async throws {
        try await Self.run(calls: 3) { server, _ in
            let proofs = try server.requests(to: .api).map { try SentProof(of: $0) }
            #expect(proofs.count == 3)
            #expect(Set(proofs.compactMap { $0.claims["jti"] as? String }).count == 3)
            for proof in proofs {
                #expect(proof.claims["htm"] as? String == "GET")
                #expect(proof.claims["htu"] as? String == server.url(of: .api))
                #expect(proof.claims["ath"] is String)
                let issuedAt = try #require(proof.claims["iat"] as? TimeInterval)
                #expect(abs(issuedAt - Date().timeIntervalSince1970) < 60)
            }
        }
    }

    // RFC 9449 §5
    @Test func `sep-1932-client-token-request-proof`() async throws {
        try await Self.run { server, _ in
            let requests = server.requests(to: .token)
            #expect(requests.count == 1)
            let proof = try SentProof(of: try #require(requests.first))
            #expect(proof.header["typ"] as? String == "dpop+jwt")
            #expect(proof.claims["htm"] as? String == "POST")
            #expect(proof.claims["htu"] as? String == server.url(of: .token))
            #expect(proof.claims["ath"] == nil)
        }
    }

    // RFC 9449 §8: the code is redeemed a second time, with the nonce of the response.
    @Test func `sep-1932-client-as-nonce`() async throws {
        try await Self.run(token: .lasting) { server, _ in
            let requests = server.requests(to: .token)
            #expect(requests.count == 2)
            #expect(Set(requests.map { $0.form["code"] }).count == 1)
            let proofs = try requests.map { try SentProof(of: $0).claims }
            #expect(proofs.first?["nonce"] == nil)
            #expect(proofs.last?["nonce"] is String)
            #expect(proofs.first?["jti"] as? String != proofs.last?["jti"] as? String)
        }
    }

    // RFC 9449 §9
    @Test func `sep-1932-client-rs-nonce`() async throws {
        try await Self.run(api: .lasting) { server, _ in
            let proofs = try server.requests(to: .api).map { try SentProof(of: $0).claims }
            #expect(proofs.count == 2)
            #expect(proofs.first?["nonce"] == nil)
            #expect(proofs.last?["nonce"] is String)
            #expect(proofs.first?["jti"] as? String != proofs.last?["jti"] as? String)
        }
    }

    // RFC 9449 §11.6
    @Test func `sep-1932-asymmetric-alg-only`() async throws {
        try await Self.run { server, _ in
            for request in server.requests(to: .token) + server.requests(to: .api) {
                let header = try SentProof(of: request).header
                #expect(header["alg"] as? String == "ES256")
                let key = try #require(header["jwk"] as? [String: String])
                #expect(key["kty"] == "EC" && key["d"] == nil && key["k"] == nil)
            }
        }
    }
}
