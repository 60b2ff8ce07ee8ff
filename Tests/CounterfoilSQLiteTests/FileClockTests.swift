import CounterfoilServer
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CounterfoilSQLite

@Suite("SQLite: the clock of a file")
struct FileClockTests {
    /// A time by which no wall clock goes.
    private static let servers = Date(timeIntervalSince1970: 4_000_000_000)

    private static func isNear(_ time: Date, _ other: Date) -> Bool { abs(time.timeIntervalSince(other)) < 60 }

    /// Runs `test` with a server on a file, which has beaten at ``servers``.
    private func withServer(_ test: (_ server: SQLiteStore, _ path: String) async throws -> Void) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.sqlite")
        let server = try SQLiteStore(at: path)
        try await server.recordService(at: Self.servers, outageAfter: 5)
        try await test(server, path)
        await server.close()
    }

    /// The time of a store that is opened now.
    private static func time(at path: String) async throws -> Date {
        let store = try SQLiteStore(at: path)
        let time = store.now()
        await store.close()
        return time
    }

    @Test func `a command goes by the clock of the server that runs`() async throws {
        try await withServer { server, path in
            #expect(Self.isNear(try await Self.time(at: path), Self.servers))
            // The clock of the server itself began with the wall clock, and a heartbeat does not change it.
            #expect(Self.isNear(server.now(), Date()))
            // A command that has no heartbeat ends nothing when it closes.
            #expect(Self.isNear(try await Self.time(at: path), Self.servers))
        }
    }

    @Test func `a server that stopped leaves no clock behind`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.sqlite")
        let server = try SQLiteStore(at: path)
        try await server.recordService(at: Self.servers, outageAfter: 5)
        await server.close()
        #expect(Self.isNear(try await Self.time(at: path), Date()))
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
            try await server.commits.commit { database in
                try database.execute(sql: "UPDATE service SET \(change)")
            }
            #expect(Self.isNear(try await Self.time(at: path), Date()))
        }
    }
}
