import CounterfoilProtocol
import Testing

struct BearerChallengeTests {
    // RFC 6750 §3: at least one parameter, each at most once, without characters that end a quoted string.
    @Test func `a challenge is one line of quoted parameters`() throws {
        #expect(BearerChallenge().description == #"Bearer realm="api""#)
        let challenge = BearerChallenge(
            realm: "a\"b\r\nX: y", resourceMetadata: "https://api.example/.well-known/oauth-protected-resource",
            scope: try Scope(parsing: "photos.read photos.write"),
            error: OAuthError(.insufficientScope, "more is needed")
        )
        #expect(
            challenge.description == #"Bearer realm="abX: y", "#
                + #"resource_metadata="https://api.example/.well-known/oauth-protected-resource", "#
                + #"scope="photos.read photos.write", error="insufficient_scope", error_description="more is needed""#)
    }
}
