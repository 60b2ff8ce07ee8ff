import CounterfoilServer
import CounterfoilStore
import Foundation
import PostgreSQLDriver
import PostgreSQLTesting
import Testing

@testable import CounterfoilPostgreSQL

@Suite("PostgreSQL: measurements", .timeLimit(.minutes(2)))
struct MeasurementTests {
    @Test func `a store measures its reads, commits and faults, and its connections`() async throws {
        var settings = ConnectionThreads.Settings()
        settings.threads = 2
        let threads = try await ConnectionThreads.open(PostgreSQLServer.shared.value.uri().uri, settings: settings)
        let connections = StoreConnections(threads)
        let engine = PostgreSQLEngine(connections)
        _ = try await engine.read { connection in try connection.first("SELECT 1") { try $0.integer() } }
        await #expect(throws: StoreFault.self) {
            try await connections.commit { transaction in _ = try transaction.run("SELECT 1/0") }
        }
        let measured = engine.measurements
        #expect(measured.kind == .postgresql && measured.waiting == 0 && measured.files == nil)
        #expect(measured.batchSizes == nil)
        #expect(measured.connections?.open == 1 && measured.connections?.limit == 2)
        #expect(measured.uses[.read]?.durations.count == 1 && measured.uses[.read]?.faults == [:])
        #expect(measured.uses[.commit]?.durations.count == 1)
        #expect(measured.uses[.commit]?.faults == [.damaged: 1])
        await threads.close()
        await #expect(throws: StoreFault.self) {
            try await connections.read { transaction in _ = try transaction.run("SELECT 1") }
        }
        #expect(engine.measurements.uses[.read]?.faults == [.unavailable: 1])
    }
}
