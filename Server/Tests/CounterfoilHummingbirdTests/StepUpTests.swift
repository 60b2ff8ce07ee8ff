import CounterfoilHummingbird
import CounterfoilProtocol
import CounterfoilResource
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing

/// A route that requires a recent sign-in or certain authentication contexts (RFC 9470).
@Suite struct StepUpTests {
    private typealias Context = BasicVerifiedAccessRequestContext

    private static func answer(
        to token: String, _ requirement: AuthenticationRequirement, at authority: Authority, _ clock: TestClock
    ) async throws -> TestResponse {
        let server = authority.resourceServer(clock: clock)
        let router = Router(context: Context.self)
        router.group("safe").requireScope(try Scope(parsing: "photos.read"), of: server)
            .requireAuthentication(requirement, of: server)
            .get { _, context in try context.requireAccess().authenticationContext ?? "" }
        return try await Application(router: router).test(.router) { client in
            try await client.executeRequest(
                uri: "/safe", method: .get, headers: [.authorization: "Bearer \(token)"], body: nil)
        }
    }

    private static func token(
        of authority: Authority, signedIn age: TimeInterval?, _ context: String?
    ) throws -> String {
        var claims = try authority.claims()
        claims.authTime = age.map { Authority.now.addingTimeInterval(-$0) }
        claims.authenticationContext = context
        return try authority.signingKey.sign(claims)
    }

    // RFC 9470 §3
    @Test func `a sign-in that is too old is insufficient, and the challenge states the requirement`() async throws {
        try await Authority.run { authority async throws in
            let requirement = AuthenticationRequirement(maxAge: 300, contexts: ["urn:example:mfa", "urn:example:key"])
            let fresh = try await Self.answer(
                to: try Self.token(of: authority, signedIn: 300, "urn:example:key"), requirement, at: authority,
                TestClock())
            #expect(fresh.status == .ok)
            #expect(String(buffer: fresh.body) == "urn:example:key")
            for (age, context) in [
                (301.0, "urn:example:key"), (-31, "urn:example:key"), (nil, "urn:example:key"),
                (1, "urn:example:password"), (1, nil),
            ] as [(TimeInterval?, String?)] {
                let refused = try await Self.answer(
                    to: try Self.token(of: authority, signedIn: age, context), requirement, at: authority, TestClock())
                #expect(refused.status == .unauthorized)
                let challenge = try #require(refused.headers[.wwwAuthenticate])
                #expect(challenge.contains(#"error="insufficient_user_authentication""#))
                #expect(challenge.contains(#"acr_values="urn:example:mfa urn:example:key""#))
                #expect(challenge.contains(#"max_age="300""#))
            }
        }
    }

    // Nothing is checked that is not required.
    @Test func `a maximum age alone accepts any authentication method`() async throws {
        try await Authority.run { authority async throws in
            let token = try Self.token(of: authority, signedIn: 10, nil)
            let answer = try await Self.answer(
                to: token, AuthenticationRequirement(maxAge: 60), at: authority, TestClock())
            #expect(answer.status == .ok)
        }
    }
}
