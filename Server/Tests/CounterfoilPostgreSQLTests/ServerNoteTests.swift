import CounterfoilServer
import CounterfoilStore
import Foundation
import PostgreSQLTesting
import Testing

@testable import CounterfoilPostgreSQL

@Suite("PostgreSQL: notes of running servers", .timeLimit(.minutes(2)))
struct ServerNoteTests {
    @Test func `servers read the notes of each other until one stops, or does not write for 90 seconds`() async throws {
        try await TestDatabase.with { uri in
            let store = try await PostgreSQLStore.open(uri)
            let start = store.now()
            func exchange(_ server: String, at seconds: TimeInterval) async throws -> [String] {
                try await store.exchangeNotes(
                    ServerNote(server: server, text: "of\n\(server)"), rewriting: "used", at: start + seconds
                ) { ($0 ?? "") + server }.map(\.text)
            }
            #expect(try await exchange("a", at: 0) == [])
            #expect(try await exchange("b", at: 30) == ["of\na"])
            #expect(try await exchange("a", at: 60) == ["of\nb"])
            #expect(try await exchange("c", at: 121) == ["of\na"])
            #expect(try await store.serverNotes(at: start + 121).map(\.server) == ["a", "c"])
            try await store.removeNote(of: "a")
            #expect(try await exchange("c", at: 130) == [])
            // The clock was set back: a note from a later time is one of before.
            #expect(try await exchange("b", at: -600) == [])

            let recorded = try await store.recordedSettings()
            #expect(recorded["used"] == "abaccb")
            #expect(recorded.keys.filter { $0.hasPrefix("server/") } == ["server/b"])
            await store.close()
        }
    }
}
