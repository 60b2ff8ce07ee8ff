import CounterfoilProtocol
import CounterfoilResource
import CounterfoilTokens
import HTTPTypes
import Testing

@Suite struct HTTPKeySetSourceTests {
    private func failure(of source: HTTPKeySetSource) async throws -> String {
        try await #require(throws: KeySetFailure.self) { try await source.fetch() }.description
    }

    // RFC 8414 §3.3.
    @Test(arguments: ["https://evil.example", "/"])
    func `metadata of another issuer is refused`(other: String) async throws {
        try await Authority.run { authority async throws in
            authority.change { $0.metadataIssuer = other == "/" ? authority.issuer.rawValue + "/" : other }
            let failure = try await failure(of: HTTPKeySetSource(issuer: authority.issuer))
            #expect(failure.hasSuffix("the metadata belongs to another issuer"))
            #expect(authority.keyRequests == 0)
        }
    }

    // RFC 8725 §3.10.
    @Test(arguments: ["http://192.0.2.1/jwks", "file:///etc/passwd", "https://user@id.example.com/jwks", "jwks", ""])
    func `keys are fetched only over https or from this machine`(uri: String) async throws {
        #expect(throws: KeySetFailure.self) { try HTTPKeySetSource(jwksURI: uri) }
        try await Authority.run { authority async throws in
            authority.change { $0.jwksURI = uri }
            let failure = try await failure(of: HTTPKeySetSource(issuer: authority.issuer))
            #expect(failure.hasPrefix("the jwks_uri "))
        }
    }

    @Test func `a redirect is not followed`() async throws {
        try await Authority.run { authority async throws in
            authority.change {
                $0.status = .found
                $0.headers[.location] = "/elsewhere"
            }
            let failure = try await failure(of: HTTPKeySetSource(issuer: authority.issuer))
            #expect(failure.hasSuffix("responded with status 302; redirects are not followed"))
            #expect(authority.keyRequests == 1)
        }
    }

    @Test func `a response that is too large or not a key set is refused`() async throws {
        try await Authority.run { authority async throws in
            authority.change { $0.padding = 66_000 }
            let large = try await failure(of: HTTPKeySetSource(issuer: authority.issuer))
            #expect(large.hasSuffix("sent a response of more than 65536 bytes"))
            let metadata = authority.issuer.endpoint("/.well-known/oauth-authorization-server")
            let other = try await failure(of: HTTPKeySetSource(jwksURI: metadata))
            #expect(other.hasSuffix("the key set is not a JSON Web Key Set"))
        }
    }

    @Test func `a configured key set URL needs no metadata`() async throws {
        try await Authority.run { authority async throws in
            let source = try HTTPKeySetSource(jwksURI: authority.issuer.endpoint("/oauth2/jwks"))
            let fetched = try await source.fetch()
            #expect(fetched.keys.keys == [try authority.signingKey.publicKey])
        }
    }
}
