import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import PostgreSQLDriver
import PostgreSQLTesting
import TestSupport
import Testing

@testable import CounterfoilPostgreSQL

@Suite("PostgreSQL: gathered notes of assertions and proofs", .timeLimit(.minutes(2)))
struct BatchedInsertTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    /// Fifty digests, each twice.
    private static func digests() throws -> [ArtefactDigest] {
        try (0..<100).map { try #require(ArtefactDigest(stored: [UInt8](repeating: UInt8($0 % 50), count: 32))) }
    }

    /// Sends a hundred notes while a table is locked, and returns their outcomes and the number of transactions.
    private static func note(
        in table: String, waiting: @Sendable (PostgreSQLStore) -> Int,
        _ note: @escaping @Sendable (PostgreSQLStore, ArtefactDigest) async throws -> Bool
    ) async throws -> (outcomes: [Bool], transactions: Int) {
        var result: (outcomes: [Bool], transactions: Int) = ([], 0)
        try await TestDatabase.withServer { server, database in
            let uri = try server.uri(database: database)
            let store = try await PostgreSQLStore.open(uri)
            let lock = try Connection.open(uri.uri).connection
            _ = try lock.exchange([Statement("BEGIN")], by: .now + .seconds(30))
            _ = try lock.exchange([Statement("LOCK TABLE \(table) IN SHARE MODE")], by: .now + .seconds(30))
            let digests = try digests()
            let notes = Task {
                try await withThrowingTaskGroup(of: Bool.self) { group in
                    for digest in digests { group.addTask { try await note(store, digest) } }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
            }
            // Two transactions are under way, with at most 32 notes each.
            _ = try await Waiting.until("the notes that wait") { waiting(store) >= 36 ? true : nil }
            _ = try lock.exchange([Statement("COMMIT")], by: .now + .seconds(30))
            result.outcomes = try await notes.value
            let count = try server.sql("SELECT count(DISTINCT xmin::text) FROM \(table)", database: database)
            result.transactions = try #require(count.first.flatMap { Int($0) })
            await store.close()
        }
        return result
    }

    // RFC 7523 §3
    @Test func `concurrent notes of assertions share transactions, and each assertion counts once`() async throws {
        let recorded = try await Self.note(in: "assertions", waiting: { $0.engine.assertions.waitingCount }) {
            store, digest in
            try await store.noteAssertion(digest, expires: Self.now + 60, attempt: CommitAttempt(), now: Self.now)
        }
        #expect(recorded.outcomes.count { $0 } == 50 && recorded.outcomes.count == 100)
        #expect(recorded.transactions <= 10)
    }

    // RFC 9449 §11.1
    @Test func `concurrent notes of proofs share transactions, and each proof counts once`() async throws {
        let thumbprint = try #require(KeyThumbprint("0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"))
        let recorded = try await Self.note(in: "used_proofs", waiting: { $0.engine.proofs.waitingCount }) {
            store, digest in
            let proof = UsedProof(digest: digest, holder: .key(thumbprint), expires: Self.now + 60)
            return try await store.noteProof(proof, at: Self.now) == .new
        }
        #expect(recorded.outcomes.count { $0 } == 50 && recorded.outcomes.count == 100)
        #expect(recorded.transactions <= 10)
    }
}
