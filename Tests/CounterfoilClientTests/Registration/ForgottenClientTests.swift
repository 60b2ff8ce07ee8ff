import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Clients that the server does not know any more, or does not accept as they are.
extension ClientIdentificationTests {
    // RFC 7591 §3: the browser sees no error page of the server.
    @Test(arguments: [
        ServerScript(), ServerScript(.noPushedRequests), ServerScript.product(.oidcProvider),
        ServerScript.product(.betterAuth),
    ])
    func `a client that the server has forgotten is registered again in the same sign-in`(
        script: ServerScript
    ) async throws {
        let store = MemoryTokenStore()
        try await ScriptedAuthorizationServer.run(script) { server in
            let first = try await Self.signIn(at: server, storedIn: store).run()
            server.change { $0.clients.known = [] }
            server.forgetRegistrations()
            server.forgetRequests()
            let second = try await Self.signIn(at: server, storedIn: store).run()
            #expect(second.clientID != first.clientID)
            #expect(server.requests(to: .registration).count == 1)
            #expect(server.requests(to: .token).count == 1)
            #expect(server.requests(to: .errorPage).isEmpty)
        }
    }

    @Test(arguments: [("invalid_client", 401), ("unauthorized_client", 400)])
    func `a client that the token endpoint does not know is registered again once`(
        code: String, status: Int
    ) async throws {
        let store = MemoryTokenStore()
        try await ScriptedAuthorizationServer.run { server in
            let first = try await Self.signIn(at: server, storedIn: store).run()
            server.change { $0.interruptions = [Interruption(at: .token, times: 1, .refusal(code, status: status))] }
            #expect(try await Self.signIn(at: server, storedIn: store).run().clientID != first.clientID)
            server.change { $0.interruptions = [Interruption(at: .token, .refusal(code, status: status))] }
            await #expect(throws: SignInError.self) { try await Self.signIn(at: server, storedIn: store).run() }
            #expect(server.requests(to: .registration).count == 3)
        }
    }

    @Test func `a device sign-in registers a forgotten client again`() async throws {
        let store = MemoryTokenStore()
        try await ScriptedAuthorizationServer.run { server in
            var client = ClientIdentification()
            client.registration = .init(as: "Lightbox", storedIn: store)
            var signIn = DeviceSignIn(issuer: server.issuer, client: client)
            signIn.pause = { _ in }
            let first = try await signIn.run { _ in }
            server.change { $0.clients.known = [] }
            server.forgetRegistrations()
            #expect(try await signIn.run { _ in }.clientID != first.clientID)
        }
    }

    // Keycloak refuses a registration whose scope contains openid, although clients may request it.
    @Test(arguments: [["openid"], ["openid", "photos.read"]])
    func `a registration is repeated without the scope that was refused`(refused: [String]) async throws {
        let store = MemoryTokenStore()
        var script = ServerScript.product(.keycloak)
        script.registration.refusedScopes = refused
        let left: WireValue? = refused == ["openid"] ? "photos.read" : nil
        try await ScriptedAuthorizationServer.run(script) { server in
            let credentials = try await Self.signIn(at: server, storedIn: store).run()
            #expect(credentials.user?.subject == "alice")
            #expect(server.requests(to: .registration).last?.json?["scope"] == left)
            let count = server.requests(to: .registration).count
            // The stored registration covers the scope, which the server grants nevertheless.
            _ = try await Self.signIn(at: server, storedIn: store).run()
            #expect(server.requests(to: .registration).count == count)
        }
    }
}
