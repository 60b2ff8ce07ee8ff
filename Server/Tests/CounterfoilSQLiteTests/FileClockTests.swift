import CounterfoilSQL
import CounterfoilServer
import CounterfoilStore
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CounterfoilSQLite

@Suite("SQLite: the clock of a file")
struct FileClockTests {
    /// A time that no wall clock shows.
    private static let servers = Date(timeIntervalSince1970: 4_000_000_000)

    private static func isNear(_ time: Date, _ other: Date) -> Bool { abs(time.timeIntervalSince(other)) < 60 }

    /// Runs `test` with a server on a file that has recorded a heartbeat, and whose clock began with ``servers``.
    private func withServer(_ test: (_ server: SQLiteStore, _ path: String) async throws -> Void) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.sqlite")
        let server = try SQLiteStore(at: path, clockStart: Self.servers)
        try await server.recordService(at: server.now(), outageAfter: 5)
        try await test(server, path)
        await server.close()
    }

    /// Returns the time of a store that is opened now.
    private static func time(at path: String, clockStart: Date? = nil) async throws -> Date {
        let store = try SQLiteStore(at: path, clockStart: clockStart)
        let time = store.now()
        await store.close()
        return time
    }

    @Test func `a command goes by the clock of the server that runs`() async throws {
        try await withServer { server, path in
            for _ in 1...2 {
                let time = try await Self.time(at: path)
                #expect(Self.isNear(time, Self.servers))
            }
            #expect(Self.isNear(server.now(), Self.servers))
        }
    }

    // This is how a wrong time is corrected, also after a crash.
    @Test func `a server begins with the wall clock, whatever the last one showed`() async throws {
        try await withServer { _, path in
            let time = try await Self.time(at: path, clockStart: Date())
            #expect(Self.isNear(time, Date()))
        }
    }

    @Test func `without a heartbeat, the clock begins with the wall clock`() async throws {
        let directory = try TemporaryDirectory()
        let time = try await Self.time(at: directory.path("store.sqlite"))
        #expect(Self.isNear(time, Date()))
    }

    @Test(
        "a mark that does not count",
        arguments: [
            "boot = 'another boot'", "boot = NULL", "boot_clock = boot_clock - 6000000",
            "boot_clock = boot_clock + 60000000", "boot_clock = -9223372036854775808",
            "clock_origin = 9223372036854775807", "clock_origin = -9223372036854775808",
        ])
    func strangers(change: String) async throws {
        try await withServer { server, path in
            _ = try await server.engine.commits.commit { database in
                try database.run("UPDATE service SET \(change)")
            }
            let time = try await Self.time(at: path)
            #expect(Self.isNear(time, Date()))
        }
    }
}
