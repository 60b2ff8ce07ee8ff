import CounterfoilProtocol
import Foundation
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

    // RFC 6750 §3, RFC 9449 §7.1. Some clients search the field for `scope=` and take the first match.
    @Test func `no text of a challenge contains the name of a parameter`() throws {
        let scope = try Scope(parsing: "photos.read")
        let error = OAuthError(.insufficientScope, "send scope=photos.write and error=none")
        let bearer = BearerChallenge(realm: "scope=all", scope: scope, error: error)
        let proof = DPoPChallenge(algorithms: ["ES256"], scope: scope, error: error)
        for text in ["\(bearer)", "\(proof)"] {
            #expect(text.components(separatedBy: "scope=").count == 2)
            #expect(text.components(separatedBy: "error=").count == 2)
            #expect(text.contains(#"error_description="send scope:photos.write and error:none""#))
        }
    }
}
