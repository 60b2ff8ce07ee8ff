import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilResource
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// The URL of an API, with which the claim `htu` is compared (RFC 9449 §4.3 check 9).
@Suite struct ProofURLTests {
    private func isAccepted(
        _ url: String, at path: String, by authority: Authority, audience: String, publicURL: String? = nil,
        host: String? = nil
    ) async throws -> Bool {
        let server = ResourceServer(
            issuer: authority.issuer, audience: audience,
            keys: KeySetCache(source: HTTPKeySetSource(issuer: authority.issuer)),
            proofs: ProofPolicy(publicURL: try publicURL.map { try AbsoluteURI(parsing: $0) }),
            now: { Authority.now })
        let prover = try Prover()
        var claims = try authority.claims()
        claims.audience = [audience]
        claims.keyThumbprint = try prover.thumbprint
        let token = try #require(AccessToken(try authority.signingKey.sign(claims)))
        var request = HTTPRequest.get(path, dpop: token, proofs: [try prover.proof(for: token, url: url)])
        if let host {
            request.authority = host
            if let name = HTTPField.Name("X-Forwarded-Host") { request.headerFields[name] = host }
            if let name = HTTPField.Name("Forwarded") { request.headerFields[name] = "host=\(host);proto=https" }
        }
        return (try? await server.access(for: request)) != nil
    }

    @Test func `the origin of the audience and the path of the request are compared`() async throws {
        try await Authority.run { authority async throws in
            for (audience, url, path, expected) in [
                ("https://photos.example", "https://photos.example/photos", "/photos?a=b", true),
                ("https://photos.example/api", "https://photos.example/api/photos", "/api/photos", true),
                ("https://photos.example/api", "https://photos.example/photos", "/photos", true),
                ("https://photos.example/api", "https://photos.example/api/photos", "/photos", false),
                ("http://127.0.0.1:8090", "http://127.0.0.1:8090/photos/", "/photos", true),
                ("http://127.0.0.1:8090", "http://127.0.0.1:8091/photos", "/photos", false),
                ("https://photos.example:443/", "https://photos.example/photos", "/photos", true),
            ] {
                #expect(
                    try await isAccepted(url, at: path, by: authority, audience: audience) == expected,
                    "\(audience) \(url)")
            }
        }
    }

    // Behind a proxy that removes a part of the path, or with an audience that is no URL.
    @Test func `a public URL replaces that of the audience`() async throws {
        try await Authority.run { authority async throws in
            for (audience, publicURL, url, expected) in [
                ("urn:photos", "https://photos.example", "https://photos.example/photos", true),
                ("urn:photos", "https://photos.example/api/", "https://photos.example/api/photos", true),
                ("https://photos.example", "https://www.example/v1", "https://www.example/v1/photos", true),
                ("https://photos.example", "https://www.example/v1", "https://photos.example/photos", false),
            ] {
                #expect(
                    try await isAccepted(url, at: "/photos", by: authority, audience: audience, publicURL: publicURL)
                        == expected, "\(publicURL) \(url)")
            }
        }
    }

    // The sender of a stolen proof chooses these fields.
    @Test func `Host and Forwarded have no influence`() async throws {
        try await Authority.run { authority async throws in
            for (url, expected) in [("https://evil.example/photos", false), (Prover.url, true)] {
                #expect(
                    try await isAccepted(
                        url, at: "/photos", by: authority, audience: Authority.audience, host: "evil.example")
                        == expected)
            }
        }
    }

    // Without a URL, no proof can be verified: nothing is accepted, and the challenge does not offer it.
    @Test func `an API without a URL refuses bound tokens`() async throws {
        try await Authority.run { authority async throws in
            let server = ResourceServer(
                issuer: authority.issuer, audience: "urn:photos",
                keys: KeySetCache(source: HTTPKeySetSource(issuer: authority.issuer)), now: { Authority.now })
            let prover = try Prover()
            let token = try authority.token(boundTo: prover)
            let refusal = try await #require(throws: AccessRefusal.self) {
                try await server.access(for: prover.request(token))
            }
            #expect(refusal.status == .unauthorized)
            #expect(refusal.error?.code == .invalidToken)
            #expect(refusal.reason.contains("publicURL"))
            #expect(refusal.headerFields[.wwwAuthenticate]?.contains("DPoP algs") == false)
        }
    }
}
