import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import PostgreSQLTesting
import Testing

@testable import CounterfoilPostgreSQL

/// The partitions of used DPoP proofs, of which one is emptied at a time.
struct ProofSlotTests {
    // A proof expires at most ten minutes after its use, and the clocks of two servers can differ by ten minutes.
    @Test func `the partition that is emptied never contains a proof that still counts`() {
        let start = Date(timeIntervalSince1970: 1_800_000_000)
        for second in stride(from: 0.0, to: 3 * 2400, by: 7) {
            let now = start + second
            for expiry in stride(from: -600.0, through: 1200, by: 10) {
                #expect(ProofSlot(of: now + expiry) != .expired(at: now), "\(second) s, expiry in \(expiry) s")
            }
        }
    }

    // RFC 9449 §11.1: the second proof has another `iat`, and so another expiry.
    @Test func `two proofs have a partition in common until the first one expires`() {
        let start = Date(timeIntervalSince1970: 1_800_000_000)
        for second in stride(from: 0.0, to: 2400, by: 50) {
            let first = start + second
            for life in stride(from: 0.0, through: 600, by: 75) {
                let slots = ProofSlot.slots(from: first, until: first + life)
                #expect(slots.count <= 3 && Set(slots).count == slots.count)
                for pause in stride(from: 0.0, through: life, by: 75) {
                    for other in stride(from: 0.0, through: 600, by: 75) {
                        let again = first + pause
                        #expect(
                            !Set(slots).isDisjoint(with: ProofSlot.slots(from: again, until: again + other)),
                            "\(second) s, \(life) s, again after \(pause) s for \(other) s")
                    }
                }
            }
        }
        // The wall clock of the server is wrong by an hour.
        #expect(ProofSlot.slots(from: start, until: start - 3600) == [ProofSlot(of: start - 3600)])
        #expect(ProofSlot.slots(from: start, until: start + 3600).count == 4)
    }

    @Test func `each partition is emptied in its turn`() {
        let start = Date(timeIntervalSince1970: 1_800_000_000)
        let emptied = stride(from: 0.0, to: 2400, by: 300).map { ProofSlot.expired(at: start + $0) }
        #expect(Set(emptied) == Set(ProofSlot.all))
    }

    @Test func `used proofs are deleted when they have expired`() async throws {
        try await TestDatabase.with { string in
            let store = try await PostgreSQLStore.open(string)
            let thumbprint = try #require(KeyThumbprint("0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"))
            let start = Date(timeIntervalSince1970: 1_800_000_000)
            func proof(_ byte: UInt8, expires: Date) throws -> UsedProof {
                UsedProof(
                    digest: try #require(ArtefactDigest(stored: [UInt8](repeating: byte, count: 32))),
                    holder: .key(thumbprint), expires: expires)
            }
            for byte in UInt8(0)..<30 {
                #expect(try await store.noteProof(proof(byte, expires: start + 300), at: start) == .new)
            }
            func remove(at now: Date) async throws -> Int {
                let limits = ExpirationLimits(
                    now: now, codesBefore: now, sessionsIdleBefore: .distantPast, refreshIdleBefore: .distantPast,
                    grantsBefore: .distantPast)
                return try await store.deleteExpired(limits, atMost: 1000)
            }
            #expect(try await remove(at: start + 899) == 0)
            // The rows of the first five minutes.
            #expect(try await remove(at: start + 900) == 30)
            #expect(try await store.noteProof(proof(0, expires: start + 300), at: start + 900) == .used)
            #expect(try await remove(at: start + 1200) == 30)
            #expect(try await remove(at: start + 1200) == 0)
            await store.close()
        }
    }
}
