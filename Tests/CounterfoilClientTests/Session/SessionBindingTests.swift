import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

@testable import CounterfoilClient

/// Tests of programs that find the credentials of another issuer, another client or another app.
@Suite(.timeLimit(.minutes(2)))
struct SessionBindingTests {
    private static func client(_ id: String) throws -> ClientIdentifier { try #require(ClientIdentifier(id)) }

    @Test func `a session uses no credentials of another issuer`() async throws {
        try await ScriptedAuthorizationServer.run { photos in
            try await ScriptedAuthorizationServer.run { ledger in
                let store: any TokenStore = MemoryTokenStore()
                let kept = try await SignedIn.at(photos, in: store)
                let session = TokenSession(
                    issuer: ledger.issuer, clientID: try Self.client("lightbox"), store: store,
                    origins: [try APIOrigin(ledger.origin)])
                for attempt in [
                    { _ = try await session.get(ledger.url(of: .api)) }, { _ = try await session.credentials() },
                    { _ = try await session.refreshed(replacing: kept.accessToken) },
                    { _ = try await session.signOut() },
                ] {
                    let error = await #expect(throws: SessionError.self) { try await attempt() }
                    guard case .notSignedIn(.standard, let found?) = error else {
                        Issue.record("\(String(describing: error))")
                        continue
                    }
                    #expect(found.issuer == photos.issuer)
                }
                #expect(ledger.requests.isEmpty)
                #expect(photos.requests(to: .revocation).isEmpty)
                #expect(try await store.credentials(of: .standard) == kept)
            }
        }
    }

    @Test func `a session uses no credentials of another client`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store: any TokenStore = MemoryTokenStore()
            try await SignedIn.at(server, in: store)
            let other = TokenSession(issuer: server.issuer, clientID: try Self.client("ledger"), store: store)
            let error = await #expect(throws: SessionError.self) { try await other.credentials() }
            #expect("\(try #require(error))".contains("it contains a sign-in of the client lightbox at"))
            let own = TokenSession(issuer: server.issuer, clientID: try Self.client("lightbox"), store: store)
            #expect(try await own.get(server.url(of: .api)).statusCode == 200)
        }
    }

    // The credentials of another client appear while the session waits for the lock of its own refresh.
    @Test func `credentials of another client that appear during a refresh are not used`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store: any TokenStore = MemoryTokenStore()
            try await SignedIn.at(server, in: store)
            let transport = TurnstileTransport(holding: server.url(of: .token))
            var signIn = try SignedIn.signIn(at: server)
            signIn.transport = transport
            let session = TokenSession(for: signIn, store: store)
            let stale = try await session.credentials().accessToken
            let waiting = Task { try await session.refreshed(replacing: stale) }
            await transport.arrivals(1)
            let other = try EncryptedFileTokenStoreTests.credentials()
            try await store.save(other, as: .standard)
            transport.open()
            let error = await #expect(throws: SessionError.self) { try await waiting.value }
            guard case .notSignedIn(.standard, _?) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(try await store.credentials(of: .standard) == other)
        }
    }

    @Test func `a session for a sign-in finds the credentials of a client that registered itself`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store = MemoryTokenStore()
            var client = ClientIdentification()
            client.registration = .init(as: "Lightbox", storedIn: store)
            var signIn = NativeSignIn(issuer: server.issuer, client: client)
            signIn.browser = ScriptedBrowser()
            let credentials = try await signIn.run()
            #expect(credentials.isSelfRegistered)
            try await store.save(credentials, as: .standard)
            #expect(try await TokenSession(for: signIn, store: store).credentials() == credentials)
            // An app that has a client ID of its own does not use the registered client.
            let own = NativeSignIn(issuer: server.issuer, clientID: try Self.client("lightbox"))
            await #expect(throws: SessionError.self) {
                try await TokenSession(for: own, store: store).credentials()
            }
        }
    }

    @Test func `a session calls the APIs that the sign-in named`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            try await ScriptedAuthorizationServer.run { other in
                let store: any TokenStore = MemoryTokenStore()
                var options = NativeSignIn.Options()
                options.apiOrigins = [try APIOrigin(server.origin)]
                try await SignedIn.at(server, in: store, options: options)
                let session = TokenSession(issuer: server.issuer, clientID: try Self.client("lightbox"), store: store)
                #expect(try await session.get(server.url(of: .api)).statusCode == 200)
                await #expect(throws: (any Error).self) { try await session.get(other.url(of: .api)) }
                #expect(other.requests.isEmpty)
                // A refresh keeps the origins.
                let stale = try await session.credentials()
                #expect(try await session.refreshed(replacing: stale.accessToken).apiOrigins == options.apiOrigins)
            }
        }
    }

    @Test func `a session that takes the API of its first call uses no other afterwards`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            try await ScriptedAuthorizationServer.run { other in
                let store = MemoryTokenStore()
                try await SignedIn.at(server, in: store)
                func session() -> TokenSession {
                    TokenSession(
                        ofAnyClientIn: store, profile: .standard, rememberingFirstOriginOver: .standard, host: .app)
                }
                // A failed call is not remembered.
                other.change { $0.interruptions = [Interruption(at: .api, times: 1, .trouble(404))] }
                #expect(try await session().get(other.url(of: .api)).statusCode == 404)
                #expect(try await session().get(server.url(of: .api)).statusCode == 200)
                await #expect(throws: (any Error).self) { try await session().get(other.url(of: .api)) }
                #expect(other.requests.count == 1)
                #expect(try await store.credentials(of: .standard)?.apiOrigins == [try APIOrigin(server.origin)])
            }
        }
    }
}
