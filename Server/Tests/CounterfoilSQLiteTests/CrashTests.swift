import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import TestSupport
import Testing

@Suite("SQLite: a process killed between any two steps")
struct CrashTests {
    /// A state in the life of one code.
    private enum Step: Int, Comparable, CaseIterable {
        case nothing, recorded, failedOnce, used, revoked

        static func < (left: Step, right: Step) -> Bool { left.rawValue < right.rawValue }
    }

    private static let usedAt = World.now.addingTimeInterval(1)
    private static let revokedAt = World.now.addingTimeInterval(2)

    /// Reopens the store with its WAL cut after each page, and in the middle of each page.
    ///
    /// Until a checkpoint, commits only append to the WAL; so its prefixes are what a killed process leaves
    /// behind.
    @Test func `after any crash a code and its grant are consistent`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let world = try await World(in: store)
        let log = URL(fileURLWithPath: store.path + "-wal")
        let start = try Data(contentsOf: log).count
        let grant = world.grant()
        let code = try await world.approve(grant)
        #expect(try await store.countFailedRedemption(code.digest) == 1)
        #expect(try await store.consumeCode(code.digest, beginning: nil, at: Self.usedAt) == .consumed)
        #expect(try await store.revokeGrant(grant.id, because: .client, at: Self.revokedAt) == .revoked)
        let (file, written) = (try Data(contentsOf: URL(fileURLWithPath: store.path)), try Data(contentsOf: log))

        let page = 24 + 4096
        #expect((written.count - start).isMultiple(of: page))
        var steps: [Step] = []
        for cut in stride(from: start, through: written.count, by: page / 2) {
            let crashed = try TemporaryDirectory()
            let path = crashed.path("store.sqlite")
            try file.write(to: URL(fileURLWithPath: path))
            try written.prefix(cut).write(to: URL(fileURLWithPath: path + "-wal"))
            let reopened = try SQLiteStore(at: path)
            let facts = try await reopened.code(code.digest)
            let kept = try await reopened.grant(grant.id)
            let step = try #require(Self.step(facts, kept), "cut after \(cut) bytes")
            steps.append(step)
            let consent = try await reopened.consent(of: world.user.id, to: world.client.id)
            #expect((consent != nil) == (Step.recorded ... .used).contains(step))
            #expect(consent?.lastUsedAt == (step == .used ? Self.usedAt : nil))
            #expect(try await reopened.user(world.user.id) == world.user)
            await reopened.close()
        }
        #expect(steps == steps.sorted())
        #expect(Set(steps) == Set(Step.allCases))
        await store.close()
    }

    /// Returns the step that the records show, or nil if they match none.
    private static func step(_ facts: CodeFacts?, _ grant: Grant?) -> Step? {
        guard let facts, let grant, facts.grant == grant else { return facts == nil && grant == nil ? .nothing : nil }
        switch (facts.code.failedRedemptions, facts.code.usedAt, grant.lastUsedAt, grant.revokedAt) {
        case (0, nil, World.now, nil): return .recorded
        case (1, nil, World.now, nil): return .failedOnce
        case (1, usedAt, usedAt, nil): return .used
        case (1, usedAt, usedAt, revokedAt): return .revoked
        default: return nil
        }
    }
}
