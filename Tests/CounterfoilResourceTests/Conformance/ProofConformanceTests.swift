import CounterfoilProtocol
import CounterfoilResource
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// The steps of the module `dpop-negative-tests` in `fapi2-security-profile-final-test-plan`.
///
/// Each is one request with a valid token, which is bound to the key of the client. The module runs them at an API.
@Suite("FAPI 2 conformance: DPoP at an API")
struct ProofConformanceTests {
    /// A request of the module, and the expected response.
    struct Step: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Whether the API accepts the request; if not, it responds with status 401.
        var isAccepted = false
        var error = "invalid_dpop_proof"
        let request: @Sendable (Prover, AccessToken) throws -> HTTPRequest

        /// Creates a step with a proof that has another header or other claims.
        init(
            _ name: String, isAccepted: Bool = false, replacing part: String, by other: String,
            inHeader isInHeader: Bool = false
        ) {
            self.init(name, isAccepted: isAccepted) { prover, token in
                let (header, claims) = (Step.header, Step.claims(token))
                #expect((isInHeader ? header : claims).contains(part))
                let proof = try prover.forge(
                    header: isInHeader ? header.replacing(part, with: other) : header,
                    claims: isInHeader ? claims : claims.replacing(part, with: other))
                return .get(dpop: token, proofs: [proof])
            }
        }

        init(
            _ name: String, isAccepted: Bool = false, error: String = "invalid_dpop_proof",
            _ request: @escaping @Sendable (Prover, AccessToken) throws -> HTTPRequest
        ) {
            testDescription = name
            self.isAccepted = isAccepted
            self.error = error
            self.request = request
        }

        static let header = #"{"typ":"dpop+jwt","alg":"ES256","jwk":JWK}"#

        static func claims(_ token: AccessToken) -> String {
            """
            {"jti":"1","htm":"GET","htu":"https://photos.example/photos","iat":1800000000,\
            "ath":"\(DPoPProofClaims.hash(of: token))"}
            """
        }

        static func proof(_ prover: Prover, _ token: AccessToken) throws -> String {
            try prover.forge(header: header, claims: claims(token))
        }
    }

    private static let headerSteps = [
        Step("typ is missing", replacing: #""typ":"dpop+jwt","#, by: "", inHeader: true),
        Step("alg is missing", replacing: #""alg":"ES256","#, by: "", inHeader: true),
        Step("jwk is missing", replacing: #","jwk":JWK"#, by: "", inHeader: true),
        Step("another typ", replacing: "dpop+jwt", by: "JWT", inHeader: true),
        Step("RS256 with an EC key", replacing: "ES256", by: "RS256", inHeader: true),
        Step("unknown members of the header", isAccepted: true, replacing: "{", by: #"{"extra":"1","#, inHeader: true),
        Step("alg none") { prover, token in
            let header = Step.header.replacing("JWK", with: try prover.jwk()).replacing("ES256", with: "none")
            return .get(dpop: token, proofs: [Forgery(header: header, claims: Step.claims(token)).unsigned])
        },
        Step("a private key in jwk") { prover, token in
            let jwk = try prover.jwk(with: #""d":"\#(Base64URL.encode(prover.key.privateRepresentation))","#)
            let header = Step.header.replacing("JWK", with: jwk)
            return .get(dpop: token, proofs: [try prover.forge(header: header, claims: Step.claims(token))])
        },
    ]

    private static let claimSteps = [
        Step("jti is missing", replacing: #""jti":"1","#, by: ""),
        Step("htm is missing", replacing: #""htm":"GET","#, by: ""),
        Step("htu is missing", replacing: #""htu":"https://photos.example/photos","#, by: ""),
        Step("iat is missing", replacing: #""iat":1800000000,"#, by: ""),
        Step("ath is missing", replacing: #""ath""#, by: #""other""#),
        Step("ath is wrong", replacing: #""ath":""#, by: #""ath":"A"#),
        Step("htm is another method", replacing: "GET", by: "PUT"),
        Step("htu is another URL", replacing: "photos.example/photos", by: "other.example/photos"),
        Step("htu with a query and a fragment", isAccepted: true, replacing: "/photos\"", by: "/photos?a=b#c\""),
        Step("htu in upper case", isAccepted: true, replacing: "https://photos.", by: "HTTPS://PHOTOS."),
        Step("htu with the default port", isAccepted: true, replacing: "example/", by: "example:443/"),
        Step("iat an hour in the future", replacing: "1800000000", by: "1800003600"),
        Step("iat an hour in the past", replacing: "1800000000", by: "1799996400"),
        Step("unknown claims", isAccepted: true, replacing: "{", by: #"{"extra":"1","#),
    ]

    private static let requestSteps = [
        Step("the field in upper case", isAccepted: true) { prover, token in
            var request = HTTPRequest.get(dpop: token, proofs: [])
            request.headerFields[try #require(HTTPField.Name("DPOP"))] = try Step.proof(prover, token)
            return request
        },
        Step("a request with a query, htu without it", isAccepted: true) { prover, token in
            .get("/photos?page=2", dpop: token, proofs: [try Step.proof(prover, token)])
        },
        Step("two proofs") { prover, token in
            .get(dpop: token, proofs: [try Step.proof(prover, token), try prover.proof(for: token)])
        },
        Step("not a JWT") { prover, token in .get(dpop: token, proofs: ["x" + (try Step.proof(prover, token))]) },
        Step("a wrong signature") { prover, token in
            let parts = try Step.proof(prover, token).split(separator: ".")
            let other = try prover.proof(for: token).split(separator: ".")
            return .get(dpop: token, proofs: ["\(parts[0]).\(parts[1]).\(other[2])"])
        },
        Step("another key", error: "invalid_token") { _, token in
            .get(dpop: token, proofs: [try Step.proof(Prover(), token)])
        },
        Step("no proof") { _, token in .get(dpop: token, proofs: []) },
        Step("no proof, as Bearer", error: "invalid_token") { _, token in
            .get(authorization: "Bearer \(token.exposed)")
        },
    ]

    // RFC 9449 §4.3 and §7.1.
    @Test(arguments: headerSteps + claimSteps + requestSteps) func `dpop-negative-tests`(step: Step) async throws {
        try await Authority.run { authority async throws in
            let prover = try Prover()
            let token = try authority.token(boundTo: prover)
            let server = authority.resourceServer()
            let request = try step.request(prover, token)
            if step.isAccepted {
                #expect(try await server.access(for: request).keyThumbprint == (try prover.thumbprint))
            } else {
                let refusal = try await #require(throws: AccessRefusal.self) { try await server.access(for: request) }
                #expect(refusal.status == .unauthorized)
                #expect(refusal.error?.code.rawValue == step.error)
                #expect(refusal.headerFields[.wwwAuthenticate]?.contains(#"error="\#(step.error)""#) == true)
            }
            // The last step of the module: the refusals were those of the proofs, so the token is still good.
            #expect(try await server.access(for: prover.request(token)).subject == "anna")
        }
    }

    // RFC 9449 §11.1.
    @Test func `dpop-negative-tests, a jti used twice`() async throws {
        try await Authority.run { authority async throws in
            let prover = try Prover()
            let token = try authority.token(boundTo: prover)
            let server = authority.resourceServer()
            #expect(try await server.access(for: prover.request(token, id: "fixed")).subject == "anna")
            let second = try prover.request(token, id: "fixed", at: Authority.now.addingTimeInterval(1))
            let refusal = try await #require(throws: AccessRefusal.self) { try await server.access(for: second) }
            #expect(refusal.status == .unauthorized)
            #expect(refusal.error?.code == .invalidDPoPProof)
        }
    }
}
