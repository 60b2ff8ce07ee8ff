import CounterfoilSQL
import CounterfoilServer
import CounterfoilStore
import Foundation
import TestSupport
import Testing

@testable import CounterfoilSQLite

@Suite("SQLite: measurements")
struct MeasurementTests {
    @Test func `a store measures its reads, commits, faults, batches and files`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        for number in 1...3 {
            try await store.appendAudit(AuditEvent(at: store.now(), .setting, detail: "number \(number)"))
        }
        #expect(try await store.audit(AuditQuery()).count == 3)
        let open = store.database.measurements
        #expect(open.kind == .sqlite && open.waiting == 0 && open.connections == nil)
        #expect(open.uses[.read]?.durations.count == 1)
        #expect(open.uses[.commit]?.durations.count == 3)
        #expect(open.uses.values.allSatisfy { $0.faults.isEmpty && $0.durations.sum > 0 })
        #expect(open.batchSizes?.count == 3 && open.batchSizes?.sum == 3)
        let files = try #require(open.files)
        #expect(files.database > 0 && files.writeAheadLog > 0)

        // Free pages can be in the write-ahead log only.
        try await store.database.engine.commit { connection in
            try connection.send("CREATE TABLE filler AS SELECT zeroblob(1 << 20) AS bytes")
            try connection.send("DROP TABLE filler")
        }
        let (space, file) = (try await store.space(), try #require(store.database.measurements.files?.database))
        let free = try #require(space.free)
        #expect(free > 1 << 20 && free > file)
        #expect(free < space.database && space.database.isMultiple(of: 4096))

        await store.close()
        await #expect(throws: StoreFault.self) {
            try await store.appendAudit(AuditEvent(at: store.now(), .setting, detail: "too late"))
        }
        #expect(store.database.measurements.uses[.commit]?.faults == [.unavailable: 1])
    }
}
