@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import TestSupport
import Testing

/// Endings journals that a restore must not believe, and those that it can.
struct EndingsHistoryTests {
    private static let identity = "aa"

    private static func ending(
        _ number: Int64, _ kind: String = "grant", of identity: String = Self.identity, subject: String? = nil
    ) -> JournalLine {
        .ending(
            Ending(
                number: number, at: number * 1_000_000, kind: kind, subject: subject ?? "gr_\(number)", detail: nil),
            identity: identity)
    }

    private static func history(
        _ lines: [JournalLine], rest: String = "", after last: Int64, knowing known: [JournalLine] = [],
        copiedAt: Int64? = nil
    ) throws -> EndingsHistory {
        let directory = try TemporaryDirectory()
        let path = directory.path("endings")
        var bytes = try lines.reduce(into: Data()) { try $0.append($1.encoded) }
        bytes.append(contentsOf: rest.utf8)
        try bytes.write(to: URL(fileURLWithPath: path))
        return try EndingsHistory(
            ofFilesAt: [path], after: EndingsPosition(identity: Self.identity, last: last), knowing: endings(of: known),
            copiedAt: copiedAt)
    }

    private static func endings(of lines: [JournalLine]) -> [Ending] {
        lines.compactMap { if case .ending(let ending, _) = $0 { ending } else { nil } }
    }

    @Test func `the endings after the copy are read in their order, and a cut last line is left out`() throws {
        let history = try Self.history([1, 2, 3, 4].map { Self.ending($0) }, rest: "{\"format\":1,\"num", after: 2)
        #expect(history.endings.map(\.number) == [3, 4])
        // The cut line can be of the same second as the last one.
        #expect(history.knownUntil == 3_000_000)
        #expect(history.cutFiles.count == 1)
    }

    @Test func `the endings of the second of a cut line do not count as known`() throws {
        func cut(_ line: JournalLine) throws -> String {
            String(decoding: try line.encoded.dropLast(30), as: UTF8.self)
        }
        func line(_ number: Int64, at second: Int64) -> JournalLine {
            .ending(
                Ending(number: number, at: second * 1_000_000, kind: "grant", subject: "gr_\(number)", detail: nil),
                identity: Self.identity)
        }
        let position = EndingsPosition(identity: Self.identity, last: 1)
        let mark = JournalLine.mark(JournalLine.Mark(.current, of: position, through: 1, at: 1_429_000))
        for (lines, rest, until) in [
            ([line(1, at: 1), line(2, at: 4)], line(3, at: 9), 4_000_000),
            ([line(1, at: 1), line(2, at: 4)], line(3, at: 4), 3_000_000),
            ([line(1, at: 1), mark], line(2, at: 9), 1_429_000),
        ] as [([JournalLine], JournalLine, Int64)] {
            #expect(try Self.history(lines, rest: cut(rest), after: 1).knownUntil == until)
            #expect(try Self.history(lines, after: 1).knownUntil == lines[1].at)
        }
        // A line is cut after the mark of the copy, so the journal is not older than the copy.
        let history = try Self.history(
            [line(1, at: 1), mark], rest: cut(line(2, at: 1)), after: 1, copiedAt: 1_429_000)
        #expect(history.knownUntil == 0 && history.cutFiles.count == 1)
    }

    @Test func `a sequence that continues another after a restore is read after it`() throws {
        let next = EndingsPosition(identity: "bb", former: Self.identity, first: 3, last: 3)
        let lines =
            [1, 2, 3].map { Self.ending($0) } + [
                .mark(JournalLine.Mark(.begins, of: next, through: 3, at: 5_000_000)), Self.ending(4, of: "bb"),
            ]
        let history = try Self.history(lines, after: 1)
        #expect(history.endings.map(\.number) == [2, 3, 4])
        #expect(history.end.identity == "bb" && history.end.last == 4)
    }

    @Test func `a journal with a gap, of another server, or from before the copy is refused`() throws {
        #expect(throws: EndingsRefusal.gap(from: 3, through: 3)) {
            try Self.history([1, 2, 4].map { Self.ending($0) }, after: 1)
        }
        #expect(throws: EndingsRefusal.gap(from: 3, through: 4)) {
            try Self.history([5, 6].map { Self.ending($0) }, after: 2)
        }
        #expect(throws: EndingsRefusal.older(through: 2, copy: 5)) {
            try Self.history([1, 2].map { Self.ending($0) }, after: 5)
        }
        #expect(throws: EndingsRefusal.endsBefore(until: 2_000_000, copy: 9_000_000)) {
            try Self.history([1, 2].map { Self.ending($0) }, after: 2, copiedAt: 9_000_000)
        }
        // The journal got its mark with the copy, and its times have no microseconds.
        let history = try Self.history([1, 2].map { Self.ending($0) }, after: 2, copiedAt: 2_000_419)
        #expect(history.endings.isEmpty)
        #expect(throws: EndingsRefusal.self) { try Self.history([Self.ending(1, of: "cc")], after: 0) }
        #expect(throws: EndingsRefusal.self) { try Self.history([], rest: "a letter\n", after: 0) }
        do {
            _ = try Self.history([], after: 0)
            Issue.record("the empty file was accepted")
        } catch {
            guard case EndingsRefusal.empty = error else { throw error }
        }
    }

    @Test func `a journal with an unknown kind is refused, and a line that it has twice counts once`() throws {
        do {
            _ = try Self.history([Self.ending(1), Self.ending(2, "face-scan")], after: 1)
            Issue.record("the unknown kind was accepted")
        } catch {
            guard case EndingsRefusal.unknownKind(_, kind: "face-scan") = error else { throw error }
            #expect("\(error)".hasSuffix("which this version does not know; use the version that wrote it"))
        }
        // The same line twice is of a file that was named twice, or copied.
        let history = try Self.history([Self.ending(1), Self.ending(2), Self.ending(2)], after: 0)
        #expect(history.endings.map(\.number) == [1, 2])
    }

    @Test func `a database that used numbers again has the endings of each branch`() throws {
        func other(_ number: Int64) -> JournalLine { Self.ending(number, subject: "gr_other\(number)") }
        // A failover to a standby that had the first two.
        let lines = (1...4).map { Self.ending($0) } + [Self.ending(2), other(3), other(4), other(5)]
        func subjects(after known: [JournalLine]) throws -> [String] {
            let last = try #require(known.last).number
            return try Self.history(lines, after: last, knowing: known).endings.map(\.subject).sorted()
        }
        #expect(
            try subjects(after: [1, 2].map { Self.ending($0) }) == [
                "gr_3", "gr_4", "gr_other3", "gr_other4", "gr_other5",
            ])
        // Copies of the former database, and of the one after the failover.
        #expect(
            try subjects(after: (1...4).map { Self.ending($0) }) == ["gr_other3", "gr_other4", "gr_other5"])
        #expect(
            try subjects(after: [Self.ending(1), Self.ending(2), other(3)]) == [
                "gr_3", "gr_4", "gr_other4", "gr_other5",
            ])
        #expect(throws: EndingsRefusal.lacksEnd(number: 4, at: 4_000_000)) {
            try subjects(after: [Self.ending(1), Self.ending(2), Self.ending(3), Self.ending(4, subject: "gr_lost")])
        }
        // The beginning of the second branch is missing.
        #expect(throws: EndingsRefusal.gap(from: 4, through: 4)) {
            try Self.history((1...4).map { Self.ending($0) } + [Self.ending(2), other(3), other(5)], after: 2)
        }
    }

    // The first copy is from before the lost endings were ended again, the second one from after it.
    @Test func `a restore leaves out the lost endings that the copy has ended again`() throws {
        func other(_ number: Int64) -> JournalLine { Self.ending(number, subject: "gr_other\(number)") }
        let position = EndingsPosition(identity: Self.identity, last: 4)
        let mark = JournalLine.Mark(.current, of: position, through: 4, at: 5_000_000, isSettled: true)
        let lines =
            (1...6).map { Self.ending($0) } + [Self.ending(2), other(3), other(4), .mark(mark), other(5)]
        func history(after known: [JournalLine]) throws -> EndingsHistory {
            try Self.history(lines, after: Int64(known.count), knowing: known)
        }
        let before = try history(after: [Self.ending(1), Self.ending(2), other(3)])
        #expect(Set(before.endings.map(\.subject)) == ["gr_3", "gr_4", "gr_5", "gr_6", "gr_other4", "gr_other5"])
        #expect(before.ownCount == 0)
        let after = try history(after: [Self.ending(1), Self.ending(2), other(3), other(4)])
        #expect(after.endings.map(\.subject) == ["gr_other5"] && after.ownCount == 1)
        // A copy of the lost branch, and one from before it.
        #expect(try history(after: (1...4).map { Self.ending($0) }).endings.count == 5)
        let earlier = try history(after: [Self.ending(1)])
        #expect(earlier.endings.count == 8 && earlier.ownCount == 1)
    }

    @Test func `a restore of a fresh copy does not end what was allowed again after lost endings were ended again`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let (path, database, copy) = (directory.path("endings"), directory.path("store"), directory.path("copy"))
        func disable(_ store: SQLiteStore, at time: Int64?) async throws {
            try await store.database.engine.commit { try $0.send("UPDATE people SET disabled_at = ?", time) }
        }
        let first = try SQLiteStore(at: database)
        _ = try await World(in: first)
        // The times of endings are those of the clock of the database.
        try await first.database.engine.commit { try $0.send("UPDATE people SET created_at = 0") }
        await first.close()
        try FileManager.default.copyItem(atPath: database, toPath: copy)
        let lost = try SQLiteStore(at: database, createIfMissing: false)
        let journal = try await EndingsJournal.open(of: lost, at: path, marking: true) { _ in }
        try await disable(lost, at: 1)
        try await journal.write(marking: true)
        await lost.close()

        let store = try SQLiteStore(at: copy, createIfMissing: false)
        let next = try await EndingsJournal.open(of: store, at: path, marking: true, takingEarlierStore: true) { _ in }
        let key = try #require(ServerKey(bytes: [UInt8](repeating: 7, count: 32)))
        let restored = RestoredStore(store, serverKey: key)
        let endings = try #require(try await next.lostEndings())
        #expect(try await restored.endAgain(endings.endings).disabled.count == 1)
        try await next.turn(from: endings)
        try await disable(store, at: nil)
        let history = try EndingsHistory(
            ofFilesAt: [path], after: try await restored.position(), knowing: try await restored.knownEndings(),
            copiedAt: nil)
        #expect(history.endings == [])
        await store.close()
    }

    @Test func `after a restore without the journal of one server, its endings are not left out`() throws {
        let directory = try TemporaryDirectory()
        let next = EndingsPosition(identity: "bb", former: Self.identity, first: 4, last: 4)
        func write(_ lines: [JournalLine], to name: String) throws -> String {
            let path = directory.path(name)
            try lines.reduce(into: Data()) { try $0.append($1.encoded) }.write(to: URL(fileURLWithPath: path))
            return path
        }
        let begin = JournalLine.mark(JournalLine.Mark(.begins, of: next, through: 4, at: 5_000_000))
        let former = (1...4).map { Self.ending($0) }
        let one = try write(former, to: "one")
        let continued = try write(former + [begin, Self.ending(5, of: "bb")], to: "continued")
        let other = try write(
            [1, 2, 3].map { Self.ending($0) } + [Self.ending(4, subject: "gr_lost")]
                + [5, 6].map { Self.ending($0) }, to: "other")
        func history(_ paths: [String], last: Int64 = 4) throws -> EndingsHistory {
            let position = EndingsPosition(identity: "bb", former: Self.identity, first: 4, last: last)
            return try EndingsHistory(ofFilesAt: paths, after: position, copiedAt: nil)
        }
        // Before the server of the first journal has started, and after it.
        #expect(try history([one, other]).endings.map(\.subject) == ["gr_5", "gr_6"])
        #expect(try history([one, other]).end == EndingsPosition(identity: Self.identity, last: 6))
        #expect(
            try history([continued, other], last: 5).endings.map(\.subject) == ["gr_lost", "gr_5", "gr_6"])
        #expect(try history([continued, other]).end == EndingsPosition(identity: "bb", last: 5))
        #expect(throws: EndingsRefusal.older(through: 6, copy: 5)) { try history([one, other], last: 5) }
        #expect(throws: EndingsRefusal.complete) { try history([one]) }
        #expect(throws: EndingsRefusal.complete) { try history([one], last: 5) }
    }

    @Test func `a line that no store can have written is refused with its file and number`() throws {
        for (kind, subject) in [
            ("session", "00"), ("client-secret", String(repeating: "x", count: 64)), ("user-deleted", "alice"),
            ("grant", "gr_\0"),
        ] {
            do {
                _ = try Self.history([Self.ending(1), Self.ending(2, kind, subject: subject)], after: 1)
                Issue.record("the line of the kind \(kind) was accepted")
            } catch {
                guard case EndingsRefusal.notAJournal(_, line: 2) = error else { throw error }
            }
        }
    }

    @Test func `a copy from after the point of a restore has both branches, and journals of two restores are refused`()
        throws
    {
        func begin(_ identity: String, at first: Int64) -> JournalLine {
            let position = EndingsPosition(identity: identity, former: Self.identity, first: first, last: first)
            return .mark(JournalLine.Mark(.begins, of: position, through: first, at: 5_000_000))
        }
        let former = (1...5).map { Self.ending($0) }
        let history = try Self.history(former + [begin("bb", at: 3), Self.ending(4, of: "bb")], after: 5)
        #expect(history.endings.map(\.number) == [4] && history.end.identity == "bb")
        #expect(throws: EndingsRefusal.severalRestores) {
            try Self.history(former + [begin("bb", at: 5), begin("cc", at: 5)], after: 1)
        }
    }

    @Test func `a file that is no journal is refused and stays as it is`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let path = directory.path("endings")
        func open(_ content: Data) async throws {
            try content.write(to: URL(fileURLWithPath: path))
            try await EndingsJournal.open(of: store, at: path, marking: true) { _ in }
        }
        let line = try Self.ending(1, of: try await store.database.engine.read { try $0.endingsPosition().identity })
            .encoded
        for content in [
            Data(repeating: 7, count: 32), Data("a letter\nwithout an end".utf8), Data("a letter\n".utf8) + line,
            line + Data("a letter\nwithout".utf8), Data(repeating: 7, count: 3 << 20),
        ] {
            await #expect(throws: JournalFailure.notAJournal(path: path)) { try await open(content) }
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == content)
        }
        // A line that a killed process has left without its end.
        try await open(line.prefix(20))
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.hasSuffix("\n") && text.contains("\"mark\":\"begins\""))
        await store.close()
    }

    @Test func `a commit does not wait for a journal that hangs, and the next one writes what it lacks`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let path = directory.path("endings")
        let failures = Mutex(0)
        let journal = try await EndingsJournal.open(
            of: store, at: path, marking: false, patience: .milliseconds(50)
        ) { _ in failures.withLock { $0 += 1 } }
        // On a busy machine, the file itself can need longer than that.
        while (try? await journal.write(marking: true)) == nil { await Task.yield() }
        let world = try await World(in: store)
        let other = Foundation.open(path, O_RDWR | O_CLOEXEC)
        #expect(other >= 0 && flock(other, LOCK_EX) == 0)
        func revoke() async throws {
            let grant = world.grant()
            try await world.approve(grant)
            #expect(
                try await store.revokeGrant(grant.id, because: .client, at: World.now, recording: []) == .revoked)
        }
        for _ in 0..<3 { try await revoke() }
        #expect(failures.withLock { $0 } >= 3)
        close(other)
        // The overdue append ends when it gets the lock or stops trying, and until then each attempt fails at once.
        while (try? await journal.write(marking: true)) == nil { await Task.yield() }
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.split(separator: "\n").filter { $0.contains("\"ended\":\"grant\"") }.count == 3)
        await store.close()
    }

    // Each process finds out what the file lacks.
    @Test func `two processes write one journal without a gap, and a full file gets another name`() async throws {
        let directory = try TemporaryDirectory()
        let server = try SQLiteStore(at: directory.path("store.sqlite"))
        let command = try SQLiteStore(at: directory.path("store.sqlite"), createIfMissing: false)
        let path = directory.path("endings")
        for (store, marks) in [(server, true), (command, false)] {
            try await EndingsJournal.open(of: store, at: path, marking: marks, sizeLimit: 2000) { failure in
                Issue.record("\(failure)")
            }
        }
        let world = try await World(in: server)
        for number in 0..<20 {
            let grant = world.grant()
            try await world.approve(grant)
            let store = number.isMultiple(of: 2) ? server : command
            let outcome = try await store.revokeGrant(
                grant.id, because: .client, at: World.now, recording: [])
            #expect(outcome == .revoked)
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
            .filter { $0.hasPrefix("endings") }.map { directory.path($0) }
        #expect(files.count > 1)
        let position = try await server.database.engine.read { try $0.endingsPosition() }
        let history = try EndingsHistory(
            ofFilesAt: files, after: EndingsPosition(identity: position.identity, last: 0), copiedAt: nil)
        // A revocation also takes the scopes out of the consent.
        #expect(history.endings.filter { $0.kind == "grant" }.count == 20)
        #expect(Int64(history.endings.count) == position.last)
        await command.close()
        await server.close()
    }

    @Test func `a journal that could not be written gets what it lacks with the next ending`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let journal = try directory.makeFolder("journal")
        let path = journal.path("endings")
        let failures = Mutex(0)
        try await EndingsJournal.open(of: store, at: path, marking: false) { _ in failures.withLock { $0 += 1 } }
        let world = try await World(in: store)
        let folder = journal.url.path
        for isBroken in [true, false] {
            if isBroken {
                try FileManager.default.moveItem(atPath: folder, toPath: folder + ".away")
            } else {
                try FileManager.default.moveItem(atPath: folder + ".away", toPath: folder)
            }
            let grant = world.grant()
            try await world.approve(grant)
            #expect(
                try await store.revokeGrant(grant.id, because: .client, at: World.now, recording: []) == .revoked)
        }
        #expect(failures.withLock { $0 } == 1)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.split(separator: "\n").filter { $0.contains("\"ended\":\"grant\"") }.count == 2)
        await store.close()
    }
}
