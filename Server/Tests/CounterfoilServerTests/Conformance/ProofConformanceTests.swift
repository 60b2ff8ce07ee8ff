import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Crypto
import Foundation
import HTTPTypes
import Testing

/// The checks of SEP-1932 for authorization servers in the MCP conformance suite, under their names.
@Suite("MCP conformance: DPoP at the authorization server")
struct MCPProofConformanceTests {
    private static let algorithmsMember = "dpop_signing_alg_values_supported"

    private static func fields(_ proof: String) throws -> HTTPFields {
        [try #require(HTTPField.Name("DPoP")): proof]
    }

    /// A code of alice for Lightbox, and its token request.
    private static func ready() async throws -> (test: TestServer, form: FormParameters) {
        let attempt = Attempt(try await TestServer())
        return (attempt.test, attempt.exchange(try await attempt.authorize().code))
    }

    // RFC 9449 §5.1
    @Test func `sep-1932-as-metadata-alg-values`() async throws {
        let test = try await TestServer()
        let algorithms = try await test.send(.get, to: .metadata).members[Self.algorithmsMember] as? [String]
        #expect(try #require(algorithms).contains("ES256"))
    }

    @Test func `sep-1932-as-no-none-alg`() async throws {
        let test = try await TestServer()
        let algorithms = try await test.send(.get, to: .metadata).members[Self.algorithmsMember] as? [String]
        for algorithm in try #require(algorithms) {
            #expect(algorithm.lowercased() != "none")
            #expect(SigningAlgorithm(rawValue: algorithm) != nil, "\(algorithm)")
        }
    }

    // RFC 9449 §5.2: the client has registered itself, as MCP clients do.
    @Test func `sep-1932-as-dpop-bound-enforcement`() async throws {
        let desk = try await RegistrationDesk()
        let registrant = try await desk.registered([
            "redirect_uris": [SuiteClient.callback], "application_type": "native",
            "token_endpoint_auth_method": "none", "dpop_bound_access_tokens": true,
        ])
        #expect(registrant.members["dpop_bound_access_tokens"] as? Bool == true)
        let attempt = try await registrant.attempt(at: SuiteClient.callback)
        let form = attempt.exchange(try await attempt.authorize().code)
        let (test, key) = (desk.test, try TestProofKey())
        let elsewhere = try key.proof("https://other.example/token", at: test.clock.wall)
        for fields in [[:], try Self.fields("not.a.proof"), try Self.fields(elsewhere)] {
            let refused = await test.redeem(form, fields: fields)
            #expect(refused.status == .badRequest)
            #expect(try refused.tokenError.error == "invalid_dpop_proof")
        }
        #expect(try await test.redeem(form, fields: try test.proving(key)).tokenResponse.tokenType == "DPoP")
    }

    // RFC 9449 §5 and §6.1.
    @Test func `sep-1932-as-token-binding`() async throws {
        let (test, form) = try await Self.ready()
        let key = try TestProofKey()
        let tokens = try await test.redeem(form, fields: try test.proving(key)).tokenResponse
        #expect(tokens.tokenType == "DPoP")
        let claims = try IssuedTokens.parts(of: tokens.accessToken.exposed).claims
        #expect(claims["cnf"] as? [String: String] == ["jkt": key.thumbprint])
    }

    // RFC 9449 §11.6
    @Test(arguments: ["none", "HS256"]) func `sep-1932-asymmetric-alg-only`(algorithm: String) async throws {
        let (test, form) = try await Self.ready()
        let honest = try TestProofKey().proof(test.issuer.endpoint("/oauth2/token"), at: test.clock.wall)
        let parts = honest.split(separator: ".").map(String.init)
        let header = String(decoding: try #require(Base64URL.decode(parts[0])), as: UTF8.self)
        #expect(header.contains(#""ES256""#))
        let forged = Base64URL.encode(Array(header.replacing(#""ES256""#, with: #""\#(algorithm)""#).utf8))
        let input = "\(forged).\(parts[1])"
        // The header is known to everyone, so nothing in it must be a secret of an HMAC.
        let code = HMAC<SHA256>.authenticationCode(
            for: Data(input.utf8), using: SymmetricKey(data: Data(header.utf8)))
        let signature = algorithm == "none" ? "" : Base64URL.encode(Array(code))
        let refused = await test.redeem(form, fields: try Self.fields("\(input).\(signature)"))
        #expect(refused.status == .badRequest)
        #expect(try refused.tokenError.error == "invalid_dpop_proof")
        #expect(try await test.redeem(form, fields: try Self.fields(honest)).tokenResponse.tokenType == "DPoP")
    }
}

/// The modules about proofs in `fapi2-security-profile-final-test-plan`, under their names.
///
/// The steps of `dpop-negative-tests` are in the tests of the module for APIs.
@Suite("FAPI 2 conformance: DPoP at the authorization server")
struct FAPIProofConformanceTests {
    // At every endpoint that takes proofs
    @Test func `ensure-dpopproof-with-iat-10seconds-before-succeeds`() async throws {
        try await Self.expectAccepted(offset: -10)
    }

    @Test func `ensure-dpopproof-with-iat-10seconds-after-succeeds`() async throws {
        try await Self.expectAccepted(offset: 10)
    }

    /// Pushes a request, redeems its code and reads UserInfo, each with a proof whose `iat` has an offset.
    private static func expectAccepted(offset: TimeInterval) async throws {
        let attempt = Attempt(try await TestServer(), for: "openid")
        let (test, key) = (attempt.test, try TestProofKey())
        let name = try #require(HTTPField.Name("DPoP"))
        func proof(
            for method: HTTPRequest.Method = .post, _ path: String, presenting token: AccessToken? = nil
        ) throws -> String {
            try key.proof(
                for: method, test.issuer.endpoint(path), at: test.clock.wall + offset, presenting: token)
        }
        let pushed = try await PushedAttempt(attempt, fields: [name: try proof("/oauth2/par")])
        let form = attempt.exchange(try await pushed.authorize().code)
        let tokens = try await test.redeem(form, fields: [name: try proof("/oauth2/token")]).tokenResponse
        #expect(tokens.tokenType == "DPoP")
        let token = tokens.accessToken
        let userInfo = await test.send(
            .get, to: .userInfo,
            fields: [
                .authorization: "DPoP \(token.exposed)",
                name: try proof(for: .get, "/oauth2/userinfo", presenting: token),
            ])
        #expect(userInfo.status == .ok)
    }
}
