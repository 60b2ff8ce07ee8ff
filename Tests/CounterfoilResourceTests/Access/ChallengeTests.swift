import CounterfoilProtocol
import CounterfoilResource
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

@Suite struct ChallengeTests {
    // RFC 6750 §3 and §3.1, RFC 9449 §7.1: Bearer is first.
    @Test func `a request without a token gets a challenge without an error`() async throws {
        try await Authority.run { authority async throws in
            let metadata = "https://photos.example/.well-known/oauth-protected-resource"
            let bare = authority.resourceServer()
            let full = authority.resourceServer(resourceMetadata: metadata)
            let scope = try Scope(parsing: "photos.read photos.write")

            let plain = try await #require(throws: AccessRefusal.self) { try await bare.access(for: .get()) }
            #expect(plain.status == .unauthorized)
            #expect(
                plain.headerFields[.wwwAuthenticate]
                    == "Bearer realm=\"api\", DPoP algs=\"ES256 RS256 Ed25519 EdDSA\"")
            #expect(plain.body.isEmpty)

            let told = try await #require(throws: AccessRefusal.self) {
                try await full.access(for: .get(), requiring: scope)
            }
            #expect(
                told.headerFields[.wwwAuthenticate]
                    == "Bearer resource_metadata=\"\(metadata)\", scope=\"photos.read photos.write\", "
                    + "DPoP algs=\"ES256 RS256 Ed25519 EdDSA\"")
            // A request without a token does not cause a request for keys.
            #expect(authority.keyRequests == 0)
        }
    }

    // RFC 9728 §5.1: clients find the metadata and the scope in 401 and 403, and `Bearer` first.
    @Test func `each challenge names the metadata, and always a scope`() async throws {
        try await Authority.run { authority async throws in
            let server = authority.resourceServer(
                publishing: ResourceDescription(scopes: try Scope(parsing: "photos.read offline_access")))
            let writing = try Scope(parsing: "photos.read photos.write")
            let token = try authority.token()
            let start =
                #"Bearer resource_metadata="https://photos.example/.well-known/oauth-protected-resource", scope="#
            let bearer = HTTPRequest.get(authorization: "Bearer \(token)")
            for (request, scope, stated) in [
                // Without a required scope, the challenge states that of the metadata.
                (HTTPRequest.get(), Scope(), "photos.read"),
                (.get(authorization: "Bearer \(token.dropLast(4))AAAA"), Scope(), "photos.read"),
                (.get(), writing, "photos.read photos.write"), (bearer, writing, "photos.read photos.write"),
            ] {
                let refusal = try await #require(throws: AccessRefusal.self) {
                    try await server.access(for: request, requiring: scope)
                }
                let field = try #require(refusal.headerFields[.wwwAuthenticate])
                #expect(field.hasPrefix("\(start)\"\(stated)\""), "\(field)")
                // Fetch §3.2: scripts can read the challenge if the API allows their origin.
                #expect(refusal.headerFields[.accessControlExposeHeaders] == "WWW-Authenticate")
                #expect(refusal.headerFields[.accessControlAllowCredentials] == nil)
            }
            // An operation that needs more after the first check names both at once.
            let access = try await server.access(for: bearer, requiring: try Scope(parsing: "photos.read"))
            let more = try #require(throws: AccessRefusal.self) {
                try server.require(try Scope(parsing: "photos.write"), of: access)
            }
            #expect(more.challenge?.scope?.description == "photos.read photos.write")
        }
    }

    // RFC 9068 §4, RFC 3986 §6.2.2.1 and §6.2.3: another spelling of the URL names the same API.
    @Test(arguments: [
        ("https://photos.example", "https://photos.example/", true),
        ("https://photos.example/", "HTTPS://Photos.Example:443", true),
        ("https://photos.example/mcp", "https://PHOTOS.example/mcp", true),
        ("https://photos.example/mcp", "https://photos.example/mcp/", false),
        ("https://photos.example/mcp", "https://photos.example/MCP", false),
        ("https://photos.example", "http://photos.example", false),
        ("https://photos.example", "https://photos.example:8443", false),
        ("https://photos.example/mcp", "https://photos.example", false),
        ("photos", "Photos", false),
    ])
    func `only tokens for this API are accepted`(audience: String, claimed: String, isAccepted: Bool) async throws {
        try await Authority.run { authority async throws in
            let server = authority.resourceServer(audience: audience)
            let token = try authority.token(audience: claimed)
            let request = HTTPRequest.get(authorization: "Bearer \(token)")
            if isAccepted {
                #expect(try await server.access(for: request).audience == audience)
            } else {
                let refusal = try await #require(throws: AccessRefusal.self) { try await server.access(for: request) }
                #expect(refusal.status == .unauthorized)
                #expect(refusal.error?.code == .invalidToken)
            }
        }
    }

    // RFC 9728 §5.1, RFC 9449 §7.1: the challenge of DPoP has everything that a client needs if it is alone.
    @Test func `the challenge of DPoP names the metadata and the scope if it is alone`() async throws {
        try await Authority.run { authority async throws in
            let metadata = "https://photos.example/.well-known/oauth-protected-resource"
            let server = authority.resourceServer(
                proofs: ProofPolicy(requiresBoundTokens: true), resourceMetadata: metadata)
            let scope = try Scope(parsing: "photos.read")
            let unasked = try await #require(throws: AccessRefusal.self) {
                try await server.access(for: .get(), requiring: scope)
            }
            #expect(
                unasked.headerFields[.wwwAuthenticate]
                    == "DPoP resource_metadata=\"\(metadata)\", scope=\"photos.read\", "
                    + "algs=\"ES256 RS256 Ed25519 EdDSA\"")
        }
    }

    // RFC 6750 §3.1.
    @Test func `each error has its status and its code`() async throws {
        try await Authority.run { authority async throws in
            let server = authority.resourceServer()
            let writing = try Scope(parsing: "photos.read photos.write")
            let token = try authority.token()

            let malformed = try await #require(throws: AccessRefusal.self) {
                try await server.access(for: .get(authorization: "Bearer a b"))
            }
            #expect(malformed.status == .badRequest)
            #expect(malformed.error?.code == .invalidRequest)
            #expect(malformed.headerFields[.wwwAuthenticate]?.hasPrefix("Bearer error=\"invalid_request\"") == true)
            for field in ["DPoP", "dpop a b"] {
                let malformed = try await #require(throws: AccessRefusal.self) {
                    try await server.access(for: .get(authorization: field))
                }
                #expect(malformed.status == .badRequest)
                #expect(malformed.headerFields[.wwwAuthenticate]?.hasPrefix("DPoP error=\"invalid_request\"") == true)
            }

            let bad = try await #require(throws: AccessRefusal.self) {
                try await server.access(for: .get(authorization: "Bearer \(token.dropLast(4))AAAA"))
            }
            #expect(bad.status == .unauthorized)
            #expect(bad.error?.code == .invalidToken)

            let narrow = try await #require(throws: AccessRefusal.self) {
                try await server.access(for: .get(authorization: "Bearer \(token)"), requiring: writing)
            }
            #expect(narrow.status == .forbidden)
            #expect(narrow.error?.code == .insufficientScope)
            let challenge = try #require(narrow.headerFields[.wwwAuthenticate])
            #expect(challenge.hasPrefix("Bearer scope=\"photos.read photos.write\", error=\"insufficient_scope\""))

            for refusal in [malformed, bad, narrow] {
                let body = try JSONDecoder().decode([String: String].self, from: Data(refusal.body))
                #expect(body["error"] == refusal.error?.code.rawValue)
                #expect(body["error_description"] == refusal.error?.description)
                #expect(refusal.headerFields[.cacheControl] == "no-store")
            }
        }
    }

    // Scope names must match completely.
    @Test(arguments: ["", "photos", "photos.readwrite", "PHOTOS.READ", "openid profile"])
    func `a missing or merely similar scope is insufficient`(granted: String) async throws {
        try await Authority.run { authority async throws in
            let server = authority.resourceServer()
            let needed = try Scope(parsing: "photos.read")
            let token = try authority.token(scope: granted)
            let refusal = try await #require(throws: AccessRefusal.self) {
                try await server.access(for: .get(authorization: "Bearer \(token)"), requiring: needed)
            }
            #expect(refusal.status == .forbidden)
            #expect(refusal.challenge?.scope == needed)
        }
    }

    // RFC 8693 §4.2: `scope` is a single string; an array grants nothing.
    @Test func `a scope claim that is a list grants nothing`() async throws {
        try await Authority.run { authority async throws in
            let server = authority.resourceServer()
            let honest = try authority.token()
            let key = try authority.signingKey
            let template = Forgery(
                header: #"{"alg":"ES256","typ":"at+jwt","kid":"\#(key.id)"}"#, claimsOf: honest)
            let listed = Forgery(
                header: template.header,
                claims: template.claims.replacing(#""scope":"photos.read""#, with: #""scope":["photos.read"]"#))
            #expect(listed.claims != template.claims)
            let token = try listed.signed(by: key)
            let refusal = try await #require(throws: AccessRefusal.self) {
                try await server.access(
                    for: .get(authorization: "Bearer \(token)"), requiring: try Scope(parsing: "photos.read"))
            }
            #expect(refusal.status == .forbidden)
            #expect(refusal.error?.code == .insufficientScope)
        }
    }

    // RFC 6750 §3, RFC 9470 §3. The challenge also contains the requirement of the API, with invalid
    // characters removed.
    @Test func `each parameter is in a challenge once, in allowed characters`() async throws {
        try await Authority.run { authority async throws in
            let server = authority.resourceServer(
                resourceMetadata: "https://photos.example/.well-known/oauth-protected-resource")
            let scope = try Scope(parsing: "photos.read photos.write")
            let token = try authority.token()
            var refusals: [AccessRefusal] = []
            for request in [
                HTTPRequest.get(), .get(authorization: "Bearer a b"),
                .get(authorization: "Bearer \(token.dropLast(4))AAAA"), .get(authorization: "Bearer \(token)"),
            ] {
                refusals.append(
                    try await #require(throws: AccessRefusal.self) {
                        try await server.access(for: request, requiring: scope)
                    })
            }
            let access = try await server.access(for: .get(authorization: "Bearer \(token)"))
            let demand = AuthenticationRequirement(
                maxAge: 0, contexts: ["urn:\u{e9}\"acr\\\", error=\"none", "urn:example:\r\nacr"])
            refusals.append(try #require(throws: AccessRefusal.self) { try server.require(demand, of: access) })

            let names = ["realm", "resource_metadata", "scope", "acr_values", "max_age", "error", "error_description"]
            for refusal in refusals {
                let field = try #require(refusal.headerFields[.wwwAuthenticate])
                #expect(field.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }, "\(field)")
                // The parser omits repeated parameters and anything that is not a parameter.
                let challenges = AuthenticationChallenge.list(in: field)
                #expect(challenges.map(\.scheme) == ["bearer", "dpop"])
                let challenge = try #require(challenges.first)
                #expect(challenge.parameters.keys.allSatisfy(names.contains), "\(field)")
                #expect(challenges.map(\.parameters.count).reduce(0, +) == field.split(separator: "=\"").count - 1)
                let written = challenge.parameters.values.joined()
                #expect(!written.contains("\""))
                #expect(try challenge["scope"].map { try Scope(parsing: $0) } ?? scope == scope)
            }
        }
    }

    // Descriptions help developers and contain no part of the token.
    @Test func `no error repeats the contents of the token`() async throws {
        try await Authority.run { authority async throws in
            let server = authority.resourceServer()
            let honest = try authority.token()
            let forged = Forgery(
                header: #"{"alg":"ES256","typ":"at+jwt","kid":"my-secret-name"}"#, claimsOf: honest)
            let token = try forged.signed(by: authority.signingKey)
            let refusal = try await #require(throws: AccessRefusal.self) {
                try await server.access(for: .get(authorization: "Bearer \(token)"))
            }
            let shown = "\(refusal.headerFields) \(String(decoding: refusal.body, as: UTF8.self))"
            for part in ["my-secret-name"] + token.split(separator: ".").map(String.init) {
                #expect(!shown.contains(part))
            }
            #expect(!refusal.reason.contains(token))
        }
    }
}
