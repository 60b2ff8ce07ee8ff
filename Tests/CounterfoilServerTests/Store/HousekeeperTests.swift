import CounterfoilProtocol
import CounterfoilServer
import CounterfoilTesting
import Foundation
import HTTPTypes
import Testing

/// What the server takes to be over, by its settings and by the policies of applications.
struct HousekeeperTests {
    private static let day: TimeInterval = 86_400

    private let test: TestServer

    init() async throws { test = try await TestServer() }

    /// An application that stays signed in, with its refresh token.
    private func signedIn(
        _ name: String, _ life: RefreshTokenLife = RefreshTokenLife()
    ) async throws -> (RegisteredClient, RefreshToken) {
        var policy = ClientPolicy.standard(for: .native)
        policy.refreshTokens = .always
        policy.refreshTokenLife = life
        let client = try await test.register(name, under: policy)
        return (client, try #require(try await Attempt(test, by: client).tokens().refreshToken))
    }

    private func refresh(_ token: RefreshToken, of client: RegisteredClient) async -> Reply {
        await test.redeem(
            FormParameters([
                "grant_type": "refresh_token", "client_id": client.id.rawValue, "refresh_token": token.exposed,
            ]))
    }

    // Nobody is signed out by housekeeping.
    @Test func `a refresh token that may still be used is kept, however long any application lets it idle`()
        async throws
    {
        let (usual, usualToken) = try await signedIn("Usual")
        let (patient, patientToken) = try await signedIn("Patient", RefreshTokenLife(idleLifetime: 100 * 86_400))
        test.clock.advance(by: 29 * Self.day)
        try await test.server.housekeeper.removeEverythingOver()
        let next = try #require(try await refresh(usualToken, of: usual).tokenResponse.refreshToken)
        test.clock.advance(by: 70 * Self.day)
        try await test.server.housekeeper.removeEverythingOver()
        #expect(await refresh(patientToken, of: patient).status == .ok)
        #expect(await refresh(next, of: usual).status == .badRequest)
    }

    @Test func `what is over goes, and the sign-in after it works as before`() async throws {
        _ = try await Attempt(test).tokens()
        _ = try await Attempt(test).authorize()
        test.clock.advance(by: 3 * Self.day)
        let removed = try await test.server.housekeeper.removeEverythingOver()
        // Two codes, two grants, two sessions.
        #expect(removed == 6)
        #expect(try await test.server.housekeeper.removeEverythingOver() == 0)
        #expect(test.server.metrics.snapshot.events[.rowRemoved] == 6)
        _ = try await Attempt(test).tokens()
    }
}
