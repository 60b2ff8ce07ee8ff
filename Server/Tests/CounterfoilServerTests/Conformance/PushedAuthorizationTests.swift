import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The assertions of the modules about pushed requests in `fapi2-security-profile-final-test-plan`, under their names.
///
/// The server is not limited to the profile, so the client is a native one.
@Suite("FAPI 2 conformance: pushed authorization requests")
struct PushedAuthorizationConformanceTests {
    private static func attempt() async throws -> Attempt { Attempt(try await TestServer()) }

    // RFC 9126 §2.1
    @Test func `par-ensure-pkce-required`() async throws {
        let attempt = try await Self.attempt().with("code_challenge", nil).with("code_challenge_method", nil)
        #expect(try await attempt.pushError() == .invalidRequest)
    }

    @Test func `par-plain-pkce-rejected`() async throws {
        let attempt = try await Self.attempt()
        let plain = attempt.with("code_challenge", attempt.verifier.exposed).with("code_challenge_method", "plain")
        #expect(try await plain.pushError() == .invalidRequest)
    }

    @Test func `par-incorrect-code-verifier-rejected`() async throws {
        let pushed = try await PushedAttempt(try await Self.attempt())
        let form = pushed.attempt.exchange(try await pushed.authorize().code)
        let wrong = await pushed.test.redeem(form.setting("code_verifier", to: CodeVerifier().exposed))
        #expect(try wrong.tokenError.error == "invalid_grant")
    }

    @Test func `par-ensure-pkce-code-verifier-required`() async throws {
        let pushed = try await PushedAttempt(try await Self.attempt())
        let form = pushed.attempt.exchange(try await pushed.authorize().code)
        let missing = await pushed.test.redeem(form.setting("code_verifier", to: nil))
        #expect(missing.status == .badRequest)
    }

    // RFC 9126 §7.3
    @Test func `par-attempt-reuse-request_uri`() async throws {
        let pushed = try await PushedAttempt(try await Self.attempt())
        _ = try await pushed.authorize().code
        try pushed.expectGone(try await pushed.firstReply())
    }

    @Test func `par-ensure-reused-request-uri-prior-to-auth-completion-succeeds`() async throws {
        let pushed = try await PushedAttempt(try await Self.attempt())
        _ = try await pushed.firstReply().signInPage
        _ = try await pushed.authorize().code
    }

    @Test func `par-attempt-to-use-expired-request_uri`() async throws {
        let pushed = try await PushedAttempt(try await Self.attempt())
        pushed.test.clock.advance(by: 61)
        try pushed.expectGone(try await pushed.firstReply())
    }

    // RFC 9126 §2.2
    @Test func `par-attempt-to-use-request_uri-for-different-client`() async throws {
        let pushed = try await PushedAttempt(try await Self.attempt())
        let other = try await pushed.test.register("Second", redirectURIs: ["http://127.0.0.1/callback"])
        try pushed.expectGone(try await pushed.with("client_id", other.id.rawValue).firstReply())
    }

    @Test func `par-pushed-authorization-url-request-containing-request_uri-form-param`() async throws {
        let pushed = try await PushedAttempt(try await Self.attempt())
        let nested = pushed.attempt.with("request_uri", pushed.requestURI)
        #expect(try await nested.pushError() == .invalidRequest)
    }

    @Test func `par-attempt-invalid-http-method`() async throws {
        let attempt = try await Self.attempt()
        let reply = await attempt.test.send(.put, to: .pushedAuthorization, body: Array(attempt.request.encoded.utf8))
        #expect(reply.status == .methodNotAllowed)
    }

    // RFC 6749 §3.1
    @Test func `par-test-duplicate-parameters`() async throws {
        let attempt = try await Self.attempt()
        #expect(try await attempt.adding("scope", "photos.read").pushError() == .invalidRequest)
    }

    @Test func `par-ensure-response-type-token-fails`() async throws {
        #expect(try await Self.attempt().with("response_type", "token").pushError() == .unsupportedResponseType)
        #expect(try await Self.attempt().with("response_type", "code id_token").pushError() == .unsupportedResponseType)
    }

    @Test(arguments: [nil, String(repeating: "s", count: 384)])
    func `par-ensure-request-with-long-state-and-without-state-succeeds`(state: String?) async throws {
        let pushed = try await PushedAttempt(try await Self.attempt().with("state", state))
        let response = try await pushed.authorize().authorizationResponse
        #expect(response.state?.exposed == state)
    }

    @Test func `par-user-rejects-authentication`() async throws {
        let pushed = try await PushedAttempt(try await Self.attempt())
        #expect(try await pushed.authorize(decision: .deny).redirectedError.code == .accessDenied)
    }
}
