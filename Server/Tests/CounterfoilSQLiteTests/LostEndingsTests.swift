@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import TestSupport
import Testing

/// The comparison of a journal with an earlier state of its store.
struct LostEndingsTests {
    @Test func `a store that lacks every ending of its journal gets them once`() async throws {
        try await Self.withEarlierStore { store, path, _ async throws in
            let journal = try await Self.open(of: store, at: path)
            let lost = try #require(try await journal.lostEndings())
            #expect(!lost.endings.isEmpty && !lost.canLackOthers)
            // Nothing of them was in the store, which has no ending now either.
            try await journal.turn(from: lost)
            #expect(try await EndingsJournal.compare(with: store, at: path) == .complete)
            #expect(try await !Self.open(of: store, at: path).lacksStore)
        }
    }

    @Test func `a gap in a journal shows that a store can lack other endings`() async throws {
        try await Self.withEarlierStore { store, path, lines async throws in
            let endings = lines.indices.filter { lines[$0].contains("\"ended\":") }
            for missing in endings.dropLast() {
                var left = lines
                left.remove(at: missing)
                try Data((left.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: path))
                let lost = try await Self.open(of: store, at: path).lostEndings()
                #expect(lost?.canLackOthers == true)
            }
            let last = try #require(endings.last)
            var far = lines
            far[last] = lines[last].replacing(/"number":\d+/, with: "\"number\":\(Int64.max)")
            try Data((far.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: path))
            #expect(try await Self.open(of: store, at: path).lostEndings()?.canLackOthers == true)
        }
    }

    @Test func `a journal whose former file has the greatest number reports it, and keeps every line`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let path = directory.path("endings")
        try Data().write(to: URL(fileURLWithPath: "\(path).\(Int64.max)"))
        let failures = Mutex<[String]>([])
        try await EndingsJournal.open(of: store, at: path, marking: true, sizeLimit: 100) { failure in
            failures.withLock { $0.append("\(failure)") }
        }
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try await Self.revoke(in: store, count: 1)
        #expect(failures.withLock { $0 }.contains { $0.contains("\(path).\(Int64.max)") && $0.contains("rename it") })
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        await store.close()
    }

    private static func open(of store: SQLiteStore, at path: String) async throws -> EndingsJournal {
        try await EndingsJournal.open(of: store, at: path, marking: false, takingEarlierStore: true) {
            Issue.record("\($0)")
        }
    }

    /// Runs a test with a store from before the first ending of its journal, and the lines of the journal.
    private static func withEarlierStore(
        _ test: (SQLiteStore, _ path: String, _ lines: [String]) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let (file, copy) = (directory.path("store.sqlite"), directory.path("copy.sqlite"))
        await (try SQLiteStore(at: file)).close()
        try FileManager.default.copyItem(atPath: file, toPath: copy)
        let path = directory.path("endings")
        let store = try SQLiteStore(at: file)
        try await EndingsJournal.open(of: store, at: path, marking: true) { Issue.record("\($0)") }
        try await revoke(in: store, count: 3)
        await store.close()
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
        let earlier = try SQLiteStore(at: copy, createIfMissing: false)
        try await test(earlier, path, lines)
        await earlier.close()
    }

    private static func revoke(in store: SQLiteStore, count: Int) async throws {
        let world = try await World(in: store)
        for _ in 0..<count {
            let grant = world.grant()
            try await world.approve(grant)
            #expect(
                try await store.revokeGrant(grant.id, because: .client, at: World.now, recording: []) == .revoked)
        }
    }
}
