import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import HTTPTypes
import Testing

/// Tests of API calls with a session.
@Suite(.timeLimit(.minutes(2)))
struct SessionCallTests {
    // RFC 6750 §3.1
    @Test func `a token that the API rejects is refreshed, and the call retried once`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store: any TokenStore = MemoryTokenStore()
            try await SignedIn.at(server, in: store)
            let session = TokenSession(ofAnyClientIn: store)
            server.expireAccessTokens()
            let answer = try await session.send(
                TransportRequest(
                    api: server.url(of: .api), method: .post, headerFields: [.contentType: "text/plain"],
                    body: RequestBody("x".utf8)))
            #expect(answer.statusCode == 200)
            let calls = server.requests(to: .api)
            #expect(calls.map(\.text) == ["x", "x"])
            #expect(calls.last?.authorization == "Bearer \(server.accessTokens.last ?? "")")
            #expect(SignedIn.refreshes(at: server).count == 1)
        }
    }

    // If a proxy removes the header field, an unlimited number of retries would never succeed.
    @Test func `an API that rejects every token is called only twice`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.losesAuthorization)) { server in
            let store: any TokenStore = MemoryTokenStore()
            try await SignedIn.at(server, in: store)
            #expect(try await TokenSession(ofAnyClientIn: store).get(server.url(of: .api)).statusCode == 401)
            #expect(server.requests(to: .api).count == 2)
            #expect(SignedIn.refreshes(at: server).count == 1)
        }
    }

    @Test(arguments: [Misbehavior.wantsMoreScope, .wantsStrongerSignIn])
    func `a demand for more scope does not cause a refresh`(misbehavior: Misbehavior) async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(misbehavior)) { server in
            let store: any TokenStore = MemoryTokenStore()
            try await SignedIn.at(server, in: store)
            let answer = try await TokenSession(ofAnyClientIn: store).get(server.url(of: .api))
            #expect([401, 403].contains(answer.statusCode))
            #expect(SignedIn.refreshes(at: server).isEmpty)
            #expect(server.requests(to: .api).count == 1)
        }
    }

    // RFC 9449 §4.2, RFC 9449 §5: the proof of a call contains the URL without its query.
    @Test func `a token that is bound to a key stays bound when it is refreshed`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.requiresDPoP)) { server in
            let store: any TokenStore = MemoryTokenStore()
            var options = NativeSignIn.Options()
            options.bindsTokens = true
            try await SignedIn.at(server, in: store, options: options)
            let session = TokenSession(ofAnyClientIn: store)
            #expect(try await session.get(server.url(of: .api)).statusCode == 200)
            #expect(try await session.get(server.url(of: .api) + "?album=1").statusCode == 200)
            server.expireAccessTokens()
            #expect(try await session.get(server.url(of: .api)).statusCode == 200)
            #expect(SignedIn.refreshes(at: server).allSatisfy { $0.field("DPoP") != nil })
        }
    }

    // RFC 7009 §2
    @Test func `signing out deletes the credentials and revokes both tokens`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store: any TokenStore = MemoryTokenStore()
            let credentials = try await SignedIn.at(server, in: store)
            let session = TokenSession(ofAnyClientIn: store)
            let events = session.events
            #expect(try await session.signOut() == .revoked)
            #expect(try await store.record(of: .standard) == nil)
            #expect(
                server.requests(to: .revocation).map { $0.form["token"] }
                    == [credentials.refreshToken?.exposed, credentials.accessToken.exposed])
            for await event in events.prefix(1) { #expect(event == .signedOut) }
            await #expect(throws: SessionError.notSignedIn(.standard)) { try await session.signOut() }
        }
    }

    @Test func `signing out while the server is unavailable deletes the credentials anyway`() async throws {
        let store: any TokenStore = MemoryTokenStore()
        try await ScriptedAuthorizationServer.run { server in try await SignedIn.at(server, in: store) }
        await #expect {
            try await TokenSession(ofAnyClientIn: store).signOut()
        } throws: {
            guard case .signedOutHereOnly = $0 as? SessionError else { return false }
            return "\($0)".hasPrefix("you are signed out on this device")
        }
        #expect(try await store.record(of: .standard) == nil)
    }
}
