import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The records that the server considers expired, by its configuration and the policies of clients.
struct MaintenanceServiceTests {
    private static let day: TimeInterval = 86_400

    private let test: TestServer

    init() async throws { test = try await TestServer() }

    /// A client with its refresh token.
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

    // Maintenance signs no user out.
    @Test func `a refresh token is kept while the longest idle lifetime of any client allows`()
        async throws
    {
        let (usual, usualToken) = try await signedIn("Usual")
        let (patient, patientToken) = try await signedIn("Patient", RefreshTokenLife(idleLifetime: 100 * 86_400))
        test.clock.advance(by: 29 * Self.day)
        try await test.server.maintenance.deleteAllExpired()
        let next = try #require(try await refresh(usualToken, of: usual).tokenResponse.refreshToken)
        test.clock.advance(by: 70 * Self.day)
        try await test.server.maintenance.deleteAllExpired()
        #expect(await refresh(patientToken, of: patient).status == .ok)
        #expect(await refresh(next, of: usual).status == .badRequest)
    }

    @Test func `expired records are deleted, and the next sign-in works as before`() async throws {
        _ = try await Attempt(test).tokens()
        _ = try await Attempt(test).authorize()
        test.clock.advance(by: 3 * Self.day)
        let removed = try await test.server.maintenance.deleteAllExpired()
        // Two codes, two grants, two sessions.
        #expect(removed == 6)
        #expect(try await test.server.maintenance.deleteAllExpired() == 0)
        #expect(test.server.metrics.snapshot.events[.rowRemoved] == 6)
        _ = try await Attempt(test).tokens()
    }

    // The process that deletes a user can end before all records are deleted.
    @Test func `housekeeping deletes the records that are left of a deleted user`() async throws {
        _ = try await Attempt(test).tokens()
        let terms = try World.terms(of: test.alice)
        let event = AuditEvent(at: test.clock.now, .account, userID: terms.pseudonym, detail: "deleted")
        #expect(
            try await test.store.beginRemoval(of: test.alice.id, by: terms, recording: event, at: test.clock.now)
                == .begun([]))
        let events = try await test.store.audit(AuditQuery(userID: test.alice.id)).count
        #expect(events > 0)
        #expect(try await test.server.maintenance.deleteAllExpired() > 0)
        #expect(try await test.store.audit(AuditQuery(userID: test.alice.id)).isEmpty)
        #expect(try await test.store.audit(AuditQuery(userID: terms.pseudonym)).count == events + 1)
        #expect(try await test.server.maintenance.deleteAllExpired() == 0)
    }

    // The process that deletes a client can end before all records are deleted.
    @Test func `housekeeping deletes the records that are left of a deleted client`() async throws {
        let world = World(
            test.store, user: test.alice, client: test.lightbox, session: .lasting(of: test.alice))
        _ = try await test.store.beginSession(
            world.session, proving: .password(try #require(test.alice.passwordHash)), replacing: nil)
        for _ in 0..<ClientRemoval.rowsAtOnce + 10 { try await world.approve(world.grant()) }
        #expect(try await test.store.removeClient(test.lightbox.id))
        #expect(try await test.store.addClient(test.lightbox) == .identifierBeingFreed)
        #expect(try await test.server.maintenance.deleteAllExpired() > 0)
        #expect(try await test.store.addClient(test.lightbox) == .added)
        #expect(try await test.server.maintenance.deleteAllExpired() == 0)
    }

    @Test func `audit events are deleted while records of a deleted client are left`() async throws {
        let test = try await TestServer { $0.auditRetention = 30 }
        let world = World(
            test.store, user: test.alice, client: test.lightbox, session: .lasting(of: test.alice))
        _ = try await test.store.beginSession(
            world.session, proving: .password(try #require(test.alice.passwordHash)), replacing: nil)
        // The first round leaves some of these records: it deletes a batch of expired ones and one of the client.
        for _ in 0..<ClientRemoval.rowsAtOnce + 2 * MaintenanceService.batch + 10 {
            try await world.approve(world.grant())
        }
        #expect(try await test.store.removeClient(test.lightbox.id))
        try await test.store.appendAudit(AuditEvent(at: test.clock.now, .setting, detail: "old"))
        test.clock.advance(by: 32 * Self.day)
        #expect(try await test.server.maintenance.runRound(steps: 1))
        #expect(try await test.store.addClient(test.lightbox) == .identifierBeingFreed)
        #expect(try await test.store.audit(AuditQuery(kind: .setting)).isEmpty)
        while try await test.server.maintenance.runRound(steps: 1) {}
        #expect(try await test.store.addClient(test.lightbox) == .added)
    }

    @Test func `audit events are deleted after their retention period, and the deletion is recorded`() async throws {
        #expect(ServerSettings.standardAuditRetention == 400)
        let test = try await TestServer { $0.auditRetention = 30 }
        for number in 0..<450 {
            try await test.store.appendAudit(AuditEvent(at: test.clock.now, .setting, detail: "old \(number)"))
        }
        let old = try await test.store.audit(AuditQuery(limit: 1000)).count
        test.clock.advance(by: 10 * Self.day)
        try await test.store.appendAudit(AuditEvent(at: test.clock.now, .setting, detail: "younger"))
        test.clock.advance(by: 20 * Self.day)
        #expect(try await test.server.maintenance.removeOldAuditEvents() == 0)
        test.clock.advance(by: Self.day)
        #expect(try await test.server.maintenance.removeOldAuditEvents() == old)
        let left = try await test.store.audit(AuditQuery(limit: 1000))
        #expect(left.map(\.event.kind) == [.auditRemoval, .setting])
        #expect(left.last?.event.detail == "younger")
        #expect(left.first?.event.detail?.hasSuffix("after a retention of 30 days") == true)
        // For the rest of the day there is nothing to do, and nothing is recorded.
        #expect(try await test.server.maintenance.removeOldAuditEvents() == 0)
        #expect(try await test.store.audit(AuditQuery(limit: 1000)).count == 2)
    }

    @Test func `audit events are kept for ever if the owner chooses so`() async throws {
        let test = try await TestServer { $0.auditRetention = nil }
        try await test.store.appendAudit(AuditEvent(at: test.clock.now, .setting, detail: "old"))
        test.clock.advance(by: 10_000 * Self.day)
        #expect(try await test.server.maintenance.removeOldAuditEvents() == 0)
        #expect(try await test.store.audit(AuditQuery(kind: .setting)).map(\.event.detail) == ["old"])
    }
}
