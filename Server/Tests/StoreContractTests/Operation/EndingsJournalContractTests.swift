import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import TestSupport
import Testing

@Suite("The contract: the endings journal")
struct EndingsJournalContractTests {
    /// The stores in an SQL database, each on its own.
    private static let kinds: [StoreKind] = [.sqlite, .postgreSQL]

    @Test(arguments: kinds, EndingChange.all)
    func `what a commit ends is in the journal when the commit returns`(
        _ kind: StoreKind, _ change: EndingChange
    ) async throws {
        try await Self.withJournal(kind) { world, path async throws in
            let steps = try await change.steps(world)
            try await steps.prepare(world)
            try await steps.end(world)
            #expect(try Self.ended(in: path).isSuperset(of: change.kinds.map(\.name)))
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(!text.contains(world.user.id.rawValue))
            for name in [world.user.username.rawValue, "ada@example.com", world.client.presentation.name] {
                #expect(!text.contains("\"\(name)\""))
            }
        }
    }

    // A new method of the store that ends something cannot be missed.
    @Test(arguments: kinds, AuditedCommitContractTests.steps)
    func `the journal lacks nothing after any commit with an event`(
        _ kind: StoreKind, _ step: AuditedCommitContractTests.Step
    ) async throws {
        try await Self.withJournal(kind) { world, path async throws in
            let commit = try await step.make(world)
            _ = try await commit([])
            let store = try #require(world.store as? any SQLStore)
            let last = try await store.database.engine.read { try $0.endingsPosition().last }
            #expect(try Self.lines(in: path).map(\.number).max() == last)
        }
    }

    @Test(arguments: kinds) func `a journal that was lost is created again by a check, with what the store still has`(
        _ kind: StoreKind
    ) async throws {
        let parent = try TemporaryDirectory()
        let directory = try parent.makeFolder("journal")
        try await kind.withWorld { world async throws in
            let store = try #require(world.store as? any SQLStore)
            let path = directory.path("endings")
            let journal = try await EndingsJournal.open(of: store, at: path, marking: true) { _ in }
            let change = try #require(EndingChange.all.first)
            let steps = try await change.steps(world)
            try await steps.prepare(world)
            try await steps.end(world)
            let kinds = Set(change.kinds.map(\.name))
            #expect(try await EndingsJournal.compare(with: store, at: path) == .complete)

            // Without an ending, an attempt that does not check the file does not notice that it is gone.
            try FileManager.default.removeItem(atPath: path)
            await journal.catchUp()
            #expect(!FileManager.default.fileExists(atPath: path))
            let start = journal.currentProgress.completeAt
            await journal.catchUp(checking: true)
            #expect(try Self.ended(in: path).isSuperset(of: kinds))
            let complete = journal.currentProgress
            #expect(complete.failures == 0 && complete.completeAt > start)

            try FileManager.default.removeItem(at: directory.url)
            await journal.catchUp(checking: true)
            let failed = journal.currentProgress
            #expect(failed.failures == 1 && failed.completeAt == complete.completeAt)
            try FileManager.default.createDirectory(at: directory.url, withIntermediateDirectories: false)
            await journal.catchUp(checking: true)
            #expect(try Self.ended(in: path).isSuperset(of: kinds))
            #expect(journal.currentProgress.failures == 1)
            #expect(journal.currentProgress.completeAt > complete.completeAt)
            // A check of a complete file writes nothing.
            let text = try Data(contentsOf: URL(fileURLWithPath: path))
            await journal.catchUp(checking: true)
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == text)
        }
    }

    @Test(arguments: kinds) func `a journal that lacks endings, or is that of another store, differs from the store`(
        _ kind: StoreKind
    ) async throws {
        try await Self.withJournal(kind) { world, path async throws in
            let store = try #require(world.store as? any SQLStore)
            let start = Date() - 1
            let file = URL(fileURLWithPath: path)
            let former = try Data(contentsOf: file)
            let change = try #require(EndingChange.all.first)
            let steps = try await change.steps(world)
            try await steps.prepare(world)
            try await steps.end(world)
            let total = try Self.endings(in: path)
            for content in [former, Data()] {
                try content.write(to: file)
                let count = try total - Self.endings(in: path)
                #expect(count > 0)
                let comparison = try await EndingsJournal.compare(with: store, at: path)
                guard case .lacks(count, let oldest) = comparison else {
                    Issue.record("\(comparison)")
                    continue
                }
                #expect(oldest > start)
                #expect(try Data(contentsOf: file) == content)
            }
            let ending = Ending(number: 1, at: 1_000_000, kind: "grant", subject: "a", detail: nil)
            try JournalLine.ending(ending, identity: "another").encoded.write(to: file)
            await #expect(throws: JournalFailure.ofAnotherStore(path: path)) {
                try await EndingsJournal.compare(with: store, at: path)
            }
            try Data("no journal\n".utf8).write(to: file)
            await #expect(throws: JournalFailure.notAJournal(path: path)) {
                try await EndingsJournal.compare(with: store, at: path)
            }
        }
    }

    @Test(arguments: kinds) func `a refresh and an approval write nothing to the journal`(
        _ kind: StoreKind
    ) async throws {
        try await Self.withJournal(kind) { world, path async throws in
            let before = try Data(contentsOf: URL(fileURLWithPath: path))
            let family = try await world.refreshFamily(of: world.grant())
            let facts = try #require(try await world.store.refreshFacts(family.digest))
            let outcome = try await world.store.recordRefresh(
                facts, .advance(to: 1), attempt: CommitAttempt(), now: World.now, recording: [])
            #expect(outcome == .recorded)
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        }
    }

    /// A change of a row, and whether it ends something.
    private static let rows: [(statement: String, ends: Bool)] = [
        ("UPDATE consents SET remembered = 'openid', remembered_at = ''", true),
        ("UPDATE consents SET remembered = 'openid email'", false),
        ("UPDATE consents SET remembered = 'openid phone'", true),
        ("UPDATE consents SET remembered = 'openid phones'", true),
        ("UPDATE consents SET remembered_at = 'https://a.example photos'", false),
        ("UPDATE consents SET remembered_at = 'https://a.example photos\nhttps://b.example files'", false),
        ("UPDATE consents SET remembered_at = 'https://a.example albums\nhttps://b.example files'", true),
        ("UPDATE sessions SET expires_at = 1", false),
        // Maintenance deletes it because it has expired.
        ("DELETE FROM sessions", false),
    ]

    @Test(arguments: kinds) func `a consent that loses or exchanges a scope ends, and an expired session does not`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let store = try #require(world.store as? any SQLStore)
            try await world.approve(world.grant())
            try await store.database.engine.commit { connection in
                try connection.send("UPDATE consents SET remembered = 'openid profile'")
            }
            for (statement, ends) in Self.rows {
                let before = try await store.database.engine.read { try $0.endingsPosition().last }
                try await store.database.engine.commit { connection in try connection.send(statement) }
                let after = try await store.database.engine.read { try $0.endingsPosition().last }
                #expect((after > before) == ends, "\(statement)")
            }
        }
    }

    @Test(arguments: kinds) func `a commit knows what it has ended without a declaration`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let engine = try #require(world.store as? any SQLStore).database.engine
            for (statements, ended) in [
                (["UPDATE people SET display_name = 'Ada'"], []),
                (
                    ["UPDATE people SET password_hash = 'x'", "UPDATE people SET disabled_at = 1"],
                    [.password, .userDisabled]
                ),
                (["UPDATE people SET role = 'owner'"], []),
                (["UPDATE people SET role = 'support'"], [.userDemoted]),
                (["UPDATE people SET role = 'support'"], []),
                (["UPDATE people SET role = NULL"], [.userDemoted]),
                (["UPDATE people SET role = NULL"], []),
                (["UPDATE people SET password_hash = 'x'"], []),
                (["DELETE FROM scopes WHERE name <> 'openid'", "UPDATE people SET changed_at = 1"], [.scope]),
                (["UPDATE people SET changed_at = 2"], []),
            ] as [([String], Set<Ending.Kind>)] {
                let committed = try await engine.commit(as: "statements", ending: .none) { connection in
                    for statement in statements { try connection.send(statement) }
                }
                #expect(committed.ended == Set(ended.map(\.name)))
                #expect(
                    DeclaredEndings.sometimes(.password).undeclared(among: committed.ended)
                        == ended.subtracting([.password]))
            }
        }
    }

    @Test(arguments: kinds) func `the deletion of what has expired or is idle ends nothing`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let store = try #require(world.store as? any SQLStore)
            // By the clock of the database, neither has expired.
            let (seenAt, expiresAt) = (world.session.lastSeenAt, world.session.expiresAt)
            func token(_ name: String, until end: Date) -> InitialAccessToken {
                InitialAccessToken(
                    digest: ArtefactDigest(of: SessionToken()), name: name, createdAt: World.now, expiresAt: end)
            }
            try await store.addInitialAccessToken(token("first", until: expiresAt), recording: [])
            let kept = token("second", until: expiresAt + 60)
            try await store.addInitialAccessToken(kept, recording: [])
            let before = try await store.database.engine.read { try $0.endingsPosition().last }

            func deleteExpired(at now: Date, idleBefore: Date) async throws -> Int {
                try await store.deleteExpired(
                    ExpirationLimits(
                        now: now, codesBefore: .distantPast, sessionsIdleBefore: idleBefore,
                        refreshIdleBefore: .distantPast, grantsBefore: .distantPast), atMost: 10)
            }
            #expect(try await deleteExpired(at: World.now, idleBefore: seenAt + 1) == 1)
            #expect(try await store.session(world.session.digest) == nil)
            let expired = Session.lasting(of: world.user)
            try await world.begin(expired)
            // The numbers of new users expire before both, and are no part of this count.
            _ = try await deleteExpired(at: World.now + ActivityHour.retention + 3600, idleBefore: .distantPast)
            #expect(try await deleteExpired(at: expiresAt + 1, idleBefore: .distantPast) == 2)
            #expect(try await store.session(expired.digest) == nil)
            #expect(try await store.initialAccessTokens() == [kept])
            let after = try await store.database.engine.read { try $0.endingsPosition().last }
            #expect(after == before)

            // The next deletion is one again.
            #expect(try await store.removeInitialAccessToken(kept.digest, recording: []))
            let last = try await store.database.engine.read { try $0.endingsPosition().last }
            #expect(last == after + 1)
        }
    }

    @Test(arguments: kinds) func `a restore that was interrupted begins again where the copy ends`(
        _ kind: StoreKind
    ) async throws {
        let directory = try TemporaryDirectory()
        try await kind.withWorld { world async throws in
            let store = try #require(world.store as? any SQLStore)
            let grants = [world.grant(), world.grant(), world.grant()]
            for grant in grants { try await world.approve(grant) }
            let key = try #require(ServerKey(bytes: [UInt8](repeating: 7, count: 32)))
            let restored = RestoredStore(store, serverKey: key)
            let copy = try await restored.position()
            let path = directory.path("endings")
            let lines = grants.prefix(2).enumerated().map { index, grant in
                JournalLine.ending(
                    Ending(
                        number: copy.last + Int64(index) + 1, at: 1_000_000, kind: "grant", subject: grant.id.rawValue,
                        detail: nil),
                    identity: copy.identity)
            }
            try lines.reduce(into: Data()) { try $0.append($1.encoded) }.write(to: URL(fileURLWithPath: path))
            func history() async throws -> EndingsHistory {
                try EndingsHistory(ofFilesAt: [path], after: try await restored.position(), copiedAt: nil)
            }
            #expect(try await restored.apply(history()).endings == 2)
            // Here, the first restore ends.
            await #expect(throws: UnfinishedRestore.self) { try await store.checkRestored() }
            await #expect(throws: JournalFailure.self) {
                try await EndingsJournal.open(of: store, at: path, marking: true) { _ in }
            }
            let again = try await history()
            #expect(again.endings.count == 2)
            #expect(try await restored.apply(again).endings == 2)
            #expect(try await world.consent != nil)
            try await restored.finish(recording: [], continuing: again.end)
            try await store.checkRestored()
            let end = try await restored.position()
            #expect(end.former == copy.identity && end.last == copy.last + 2 && end.restoringFrom == nil)

            // The journal of another server has an ending that this restore lacked.
            let missed = Ending(number: end.last + 1, at: 2_000_000, kind: "grant", subject: "gr_missed", detail: nil)
            let other = directory.path("other")
            try JournalLine.ending(missed, identity: copy.identity).encoded.write(to: URL(fileURLWithPath: other))
            await #expect(throws: JournalFailure.restoredWithout(path: other)) {
                try await EndingsJournal.open(of: store, at: other, marking: true) { _ in }
            }
            let second = try EndingsHistory(ofFilesAt: [path, other], after: end, copiedAt: nil)
            #expect(second.endings == [missed] && second.ownCount == 0)
        }
    }

    @Test(arguments: kinds) func `a consent without a grant that is left ends with the grant in a restore`(
        _ kind: StoreKind
    ) async throws {
        let directory = try TemporaryDirectory()
        try await kind.withWorld { world async throws in
            let store = try #require(world.store as? any SQLStore)
            let grant = world.grant()
            try await world.approve(grant)
            let key = try #require(ServerKey(bytes: [UInt8](repeating: 7, count: 32)))
            let restored = RestoredStore(store, serverKey: key)
            let copy = try await restored.position()
            let path = directory.path("endings")
            let ending = Ending(
                number: copy.last + 1, at: 1_000_000, kind: "grant", subject: grant.id.rawValue, detail: nil)
            try JournalLine.ending(ending, identity: copy.identity).encoded.write(to: URL(fileURLWithPath: path))
            _ = try await restored.apply(EndingsHistory(ofFilesAt: [path], after: copy, copiedAt: nil))
            #expect(try await world.consent == nil)
        }
    }

    @Test(arguments: kinds) func `a server with the lease of the maintenance serves the store`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let store = try #require(world.store as? any SQLStore)
            let (holder, now) = (LeaseHolder(), store.now())
            #expect(try await store.takeMaintenanceLease(holder, until: now + 150, at: now))
            #expect(try await store.isServed())
            try await store.returnMaintenanceLease(holder)
            #expect(try await !store.isServed())
        }
    }

    @Test(arguments: kinds) func `a server without the lease serves the store while it writes heartbeats`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let store = try #require(world.store as? any SQLStore)
            let silence = ServiceRecord.silenceLimit
            // That of a restored copy.
            try await store.recordService(at: store.now() - 86_400, outageAfter: silence)
            let server = Task {
                while !Task.isCancelled { try await store.recordService(at: store.now(), outageAfter: silence) }
            }
            #expect(try await store.isServed())
            server.cancel()
            _ = await server.result
        }
    }

    private static func withJournal(
        _ kind: StoreKind, _ test: (World, _ path: String) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        try await kind.withWorld { world async throws in
            let store = try #require(world.store as? any SQLStore)
            let path = directory.path("endings")
            try await EndingsJournal.open(of: store, at: path, marking: true) { failure in
                Issue.record("\(failure)")
            }
            try await test(world, path)
        }
    }

    private static func lines(in path: String) throws -> [JournalLine] {
        try Data(contentsOf: URL(fileURLWithPath: path)).split(separator: UInt8(ascii: "\n")).map { line in
            try #require(JournalLine(Data(line)))
        }
    }

    /// Returns the number of endings in a journal.
    private static func endings(in path: String) throws -> Int {
        try lines(in: path).count { if case .ending = $0 { true } else { false } }
    }

    private static func ended(in path: String) throws -> Set<String> {
        var kinds: Set<String> = []
        for case .ending(let ending, _) in try lines(in: path) { kinds.insert(ending.kind) }
        return kinds
    }
}
