import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import TestSupport
import Testing

@Suite("SQLite: a process killed during refreshes")
struct RefreshCrashTests {
    /// A state of a refresh token family.
    private enum Step: Int, Comparable, CaseIterable {
        case nothing, allowed, begun, advanced, repeated, advancedAgain, revoked, recorded

        static func < (left: Step, right: Step) -> Bool { left.rawValue < right.rawValue }
    }

    private static func time(_ seconds: TimeInterval) -> Date { World.now.addingTimeInterval(seconds) }

    // The WAL is cut after each page and in the middle of each page. The family is in the state before or
    // after a step, never between.
    // An issued token is valid and a revoked one is revoked, whether the audit log recorded the revocation
    // or not.
    @Test func `after any crash a token family is consistent`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let world = try await World(in: store)
        let log = URL(fileURLWithPath: store.path + "-wal")
        let start = try Data(contentsOf: log).count
        let grant = world.grant()
        let family = RefreshFamily(
            digest: ArtefactDigest(of: AuthorizationCode()), grantID: grant.id, rotatedAt: World.now,
            lastUsedAt: World.now, expiresAt: Self.time(10_000))
        let code = try await world.approve(grant)
        #expect(try await store.consumeCode(code.digest, beginning: family, at: Self.time(1)) == .consumed)
        let steps: [(RefreshStep, TimeInterval)] = [(.advance(to: 1), 2), (.repeat, 3), (.advance(to: 2), 4)]
        for (step, seconds) in steps {
            let facts = try #require(try await store.refreshFacts(family.digest))
            #expect(try await store.recordRefresh(facts, step, now: Self.time(seconds)) == .recorded)
        }
        #expect(try await store.revokeGrant(grant.id, because: .client, at: Self.time(5)) == .revoked)
        try await store.appendAudit(
            AuditEvent(
                at: Self.time(5), .revocation, userID: world.user.id, clientID: world.client.id, grantID: grant.id))
        let (file, written) = (try Data(contentsOf: URL(fileURLWithPath: store.path)), try Data(contentsOf: log))

        let page = 24 + 4096
        var shown: [Step] = []
        for cut in stride(from: start, through: written.count, by: page / 2) {
            let crashed = try TemporaryDirectory()
            let path = crashed.path("store.sqlite")
            try file.write(to: URL(fileURLWithPath: path))
            try written.prefix(cut).write(to: URL(fileURLWithPath: path + "-wal"))
            let reopened = try SQLiteStore(at: path)
            let step = try #require(try await Self.step(reopened, grant.id, family), "cut after \(cut) bytes")
            shown.append(step)
            // The user stays signed in until the revocation.
            if (Step.begun ..< .revoked).contains(step) {
                let facts = try #require(try await reopened.refreshFacts(family.digest))
                #expect(facts.grant.revokedAt == nil)
                #expect(
                    try await reopened.recordRefresh(
                        facts, .advance(to: facts.family.generation + 1), now: Self.time(6)) == .recorded)
            }
            await reopened.close()
        }
        #expect(shown == shown.sorted())
        #expect(Set(shown) == Set(Step.allCases))
        await store.close()
    }

    /// Returns the step that a store shows, or nil if it shows none.
    private static func step(_ store: SQLiteStore, _ grantID: GrantIdentifier, _ family: RefreshFamily) async throws
        -> Step?
    {
        let grant = try await store.grant(grantID)
        let facts = try await store.refreshFacts(family.digest)
        let isRecorded = try await store.audit(AuditQuery(kind: .revocation)).count == 1
        guard let grant else { return facts == nil && !isRecorded ? .nothing : nil }
        guard let line = facts?.family else { return grant.revokedAt == nil && !isRecorded ? .allowed : nil }
        guard grant.revokedAt == nil else { return isRecorded ? .recorded : .revoked }
        guard !isRecorded else { return nil }
        switch (line.generation, line.repeats) {
        case (0, 0): return .begun
        case (1, 0): return .advanced
        case (1, 1): return .repeated
        case (2, 0): return .advancedAgain
        default: return nil
        }
    }
}
