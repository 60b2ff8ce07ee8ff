import CounterfoilProtocol
import CounterfoilResource
import HTTPTypes
import Testing

/// Scope tokens that include others, by a rule of the API.
@Suite struct ScopeHierarchyTests {
    // Model Context Protocol, Authorization: a broader scope stands for the narrower ones.
    @Test(arguments: [
        ("photos.read", "photos.read", true), ("photos.write", "photos.read", true),
        ("photos.admin", "photos.read photos.write", true), ("photos.admin", "photos.delete", true),
        ("photos.read", "photos.write", false), ("photos.write", "photos.delete", false),
        ("photos.write", "photos.read albums.read", false), ("PHOTOS.WRITE", "photos.read", false),
        ("photos.cycle", "photos.circle", true), ("openid", "photos.read", false),
    ])
    func `a broader scope grants the narrower ones`(granted: String, needed: String, isGranted: Bool) async throws {
        try await Authority.run { authority async throws in
            let server = authority.resourceServer(
                scopeHierarchy: try ScopeHierarchy([
                    "photos.admin": "photos.write photos.delete", "photos.write": "photos.read",
                    "photos.cycle": "photos.circle", "photos.circle": "photos.cycle",
                ]))
            let request = HTTPRequest.get(authorization: "Bearer \(try authority.token(scope: granted))")
            let needed = try Scope(parsing: needed)
            if isGranted {
                let access = try await server.access(for: request, requiring: needed)
                // The access states what the user granted, and no more.
                #expect(access.scope.description == granted)
            } else {
                let refusal = try await #require(throws: AccessRefusal.self) {
                    try await server.access(for: request, requiring: needed)
                }
                #expect(refusal.status == .forbidden)
                #expect(refusal.challenge?.scope == needed)
            }
        }
    }

    // RFC 7662 §4: a scope that the user withdrew grants nothing, neither itself nor what it includes.
    @Test func `a withdrawn scope grants no narrower one`() async throws {
        try await Authority.run { authority async throws in
            let server = authority.resourceServer(
                introspection: TokenIntrospection(
                    clientID: try #require(ClientIdentifier("api_photos")),
                    clientSecret: try #require(ClientSecret("s3cret"))),
                scopeHierarchy: try ScopeHierarchy(["photos.write": "photos.read"]))
            let token = try authority.token(scope: "photos.write openid")
            authority.change { $0.introspectionResponses[token] = #"{"active":true,"scope":"openid"}"# }
            let refusal = try await #require(throws: AccessRefusal.self) {
                try await server.access(
                    for: .get(authorization: "Bearer \(token)"), requiring: try Scope(parsing: "photos.read"))
            }
            #expect(refusal.error?.code == .insufficientScope)
        }
    }

    @Test(arguments: [["photos write": "photos.read"], ["": "photos.read"], ["photos.write": ""], ["a": "b\tc"]])
    func `a malformed rule is refused`(rule: [String: String]) {
        #expect(throws: Scope.Refusal.self) { try ScopeHierarchy(rule) }
    }
}
