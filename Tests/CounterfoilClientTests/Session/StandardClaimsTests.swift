import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// Tests of claims as typed values, and of credentials that a program creates.
@Suite(.timeLimit(.minutes(2)))
struct StandardClaimsTests {
    // OpenID Connect Core §2 and §5.1, RFC 8176
    @Test func `the claims of the ID token are typed, also after the store and a refresh`() async throws {
        var script = ServerScript()
        script.idToken.replaced = [
            WireMember("name", "Alice Berg"), WireMember("given_name", "Alice"), WireMember("email_verified", true),
            WireMember("preferred_username", "alice"), WireMember("locale", "nb-NO"),
            WireMember("updated_at", 1_700_000_000), WireMember("acr", "mfa"), WireMember("amr", ["pwd", "otp"]),
            WireMember("address", ["locality": "Oslo", "country": "NO"]), WireMember("groups", ["a", "b"]),
            WireMember("phone_number_verified", "yes"),
        ]
        try await ScriptedAuthorizationServer.run(script) { server in
            let store = MemoryTokenStore()
            try await SignedIn.at(server, scope: "openid", in: store)
            let session = TokenSession(ofAnyClientIn: store)
            for _ in 0..<2 {
                let claims = try #require(try await session.credentials().standardClaims)
                #expect(claims.subject == "alice")
                #expect(claims.name == "Alice Berg")
                #expect(claims.givenName == "Alice")
                #expect(claims.familyName == nil)
                #expect(claims.isEmailVerified == true)
                #expect(claims.preferredUsername == "alice")
                #expect(claims.locale == "nb-NO")
                #expect(claims.updatedAt == Date(timeIntervalSince1970: 1_700_000_000))
                #expect(claims.authenticationContext == "mfa")
                #expect(claims.authenticationMethods == ["pwd", "otp"])
                #expect(claims.address?.locality == "Oslo")
                #expect(claims.address?.country == "NO")
                #expect(claims.isPhoneNumberVerified == nil, "it is no Boolean")
                #expect(claims.all["groups"] == .array([.string("a"), .string("b")]))
                _ = try await session.refreshed(replacing: session.credentials().accessToken)
            }
        }
    }

    @Test func `credentials without an ID token have no claims`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let credentials = try await SignedIn.at(server, in: MemoryTokenStore())
            #expect(credentials.standardClaims == nil)
        }
    }

    @Test func `a sign-in of another library is continued with its refresh token`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let former = try await SignedIn.at(server, scope: "openid photos.read", in: MemoryTokenStore())
            let stale = try #require(AccessToken("stale"))
            let migrated = Credentials(
                issuer: former.issuer, clientID: former.clientID, accessToken: stale, expires: .distantPast,
                refreshToken: former.refreshToken, scope: former.scope, user: .init(subject: "alice"))
            #expect(migrated.idToken == nil && migrated.standardClaims == nil)
            let session = TokenSession(
                for: try SignedIn.signIn(at: server, scope: "openid photos.read"), store: MemoryTokenStore())
            try await session.adopt(migrated)
            #expect(try await session.get(server.url(of: .api)).statusCode == 200)
            #expect(try await session.credentials().user?.subject == "alice")
        }
    }

    // OpenID Connect Core §12.2
    @Test func `a migrated sign-in that belongs to another user ends`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let former = try await SignedIn.at(server, scope: "openid", in: MemoryTokenStore())
            let stale = try #require(AccessToken("stale"))
            let migrated = Credentials(
                issuer: former.issuer, clientID: former.clientID, accessToken: stale, expires: .distantPast,
                refreshToken: former.refreshToken, scope: former.scope, user: .init(subject: "bob"))
            let session = TokenSession(
                for: try SignedIn.signIn(at: server, scope: "openid"), store: MemoryTokenStore())
            try await session.adopt(migrated)
            await #expect {
                try await session.credentials()
            } throws: {
                if case .ended = $0 as? SessionError { true } else { false }
            }
        }
    }
}
