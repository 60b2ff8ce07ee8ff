import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import Observation
import TestSupport
import Testing

/// Tests of the status of a session that a user interface observes.
@MainActor
@Suite(.timeLimit(.minutes(2)))
struct ObservedSessionTests {
    /// Waits until the status is one that a view shows.
    private static func shows(_ observed: ObservedSession, _ isShown: (ObservedSession.Status) -> Bool) async {
        while !isShown(observed.status) {
            await withCheckedContinuation { continuation in
                withObservationTracking {
                    _ = observed.status
                } onChange: {
                    continuation.resume()
                }
            }
        }
    }

    private static func isSignedIn(_ status: ObservedSession.Status) -> Bool {
        if case .signedIn = status { true } else { false }
    }

    @Test func `the status follows a session from its sign-in to its end`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            try await Self.follow(at: server)
        }
    }

    private static func follow(at server: ScriptedAuthorizationServer) async throws {
        let store = MemoryTokenStore()
        let signIn = try SignedIn.signIn(at: server, scope: "openid")
        let observed = ObservedSession(TokenSession(for: signIn, store: store))
        #expect(observed.status == .unknown)
        await shows(observed) { $0 == .signedOut }
        let credentials = try await observed.session.signedIn()
        await shows(observed, isSignedIn)
        #expect(observed.status == .signedIn(credentials.user))
        #expect(credentials.user?.subject == "alice")

        // A second object of the same session knows the user from the store.
        let other = ObservedSession(observed.session)
        await shows(other, isSignedIn)

        // The sign-out in another process.
        try await TokenSession(for: signIn, store: store).signOut()
        await observed.update()
        #expect(observed.status == .signedOut)

        let again = try await observed.session.signedIn()
        await shows(observed, isSignedIn)
        server.revokeEverything()
        await #expect(throws: SessionError.self) {
            try await observed.session.refreshed(replacing: again.accessToken)
        }
        await shows(observed) { if case .ended(.refused) = $0 { true } else { false } }
        // The reason stays when the store is read again.
        await observed.update()
        #expect(observed.status != .signedOut)
    }
}
