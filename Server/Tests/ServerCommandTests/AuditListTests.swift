import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation
import TestSupport
import Testing

import struct TestSupport.Site

/// The filters and the lines of `audit list`.
@Suite(.timeLimit(.minutes(5)))
struct AuditListTests {
    /// Runs `audit list` on a data directory with one refusal of an IPv6 client.
    private static func list(_ run: ((String...) async throws -> EndedProgram) async throws -> Void) async throws {
        try await Site.make { site in
            try await site.addScope("photos.read", "See your photos")
            let store = try SQLiteStore(at: site.dataDirectory + "/counterfoil.db")
            try await store.appendAudit(
                AuditEvent(
                    at: store.now(), .clientAuthentication, .refused,
                    clientID: ClientIdentifier("app  user=alice  source=192.0.2.1"), source: "2001:db8:0:0::/64",
                    requestID: "-rM_1:x", detail: "invalid_client: the secret is wrong"))
            await store.close()
            try await run { (options: String...) in try await site.administer(["audit", "list"] + options) }
        }
    }

    @Test func `an IPv6 address finds the events of its network of 64 bits, and text that is no address is refused`()
        async throws
    {
        try await Self.list { list in
            for address in ["2001:db8::1", "2001:DB8:0:0:ffff::", "2001:db8:0:0::/64"] {
                let found = try await list("--source", address)
                #expect(found.output.contains("client-authentication refused"), "\(found)")
            }
            let other = try await list("--source", "2001:db8:0:1::1")
            #expect(other.output == "No matching events.\n")
            #expect(other.errors == "Searched: --source 2001:db8:0:1::/64.\n")
            let mapped = try await list("--source", "::ffff:192.0.2.1")
            #expect(mapped.errors == "Searched: --source 192.0.2.1.\n")
            for text in ["192.0.2", "192.0.2.0/64", "alice", ""] {
                let refused = try await list("--source", text)
                #expect(refused.status == 64 && refused.errors.contains("--source must be an IP address"), "\(refused)")
            }
        }
    }

    @Test func `a line names its fields, and a client_id cannot contain another field`() async throws {
        try await Self.list { list in
            let line = try await list("--outcome", "refused").output
            #expect(
                line.hasSuffix(
                    #"  client-authentication refused: invalid_client  client_id=app\u{20}\u{20}user=alice\u{20}\u{20}"#
                        + "source=192.0.2.1  source=2001:db8:0:0::/64  request=-rM_1:x  (the secret is wrong)\n"),
                "\(line)")
        }
    }

    @Test func `a reference is a whole one, and a search without a result says what was searched`() async throws {
        try await Self.list { list in
            #expect(try await list("--request", "-rM_1:x").output.contains("client-authentication refused"))
            let none = try await list("--request", "-rm_1:x", "--until", "2999-01-01T00:00Z")
            #expect(none.status == 0 && none.output == "No matching events.\n")
            #expect(none.errors.hasPrefix("Searched: --request -rm_1:x, before 2999-01-01T00:00:00Z"), "\(none)")
            #expect(none.errors.hasSuffix(". A reference must be complete, and its case counts.\n"), "\(none)")
            let found = try await list("--since", "2020-01-01T00:00Z")
            #expect(found.errors.hasPrefix("Searched: since 2020-01-01T00:00:00Z"), "\(found)")
            for text in ["6f1f…", "two words", "", String(repeating: "a", count: 65)] {
                let refused = try await list("--request", text)
                #expect(refused.status == 64, "\(refused)")
                #expect(refused.errors.contains("--request must be a whole reference: 1 to 64 letters"), "\(refused)")
            }
        }
    }

    @Test func `times are relative to now or local, and an empty period is refused`() async throws {
        try await Self.list { list in
            for times in [["--since", "yesterday"], ["--since", "2h"], ["--since", "90m", "--until", "2999-01-01"]] {
                let found = try await list("--outcome", "refused", times[0], times[1], "--limit", "9")
                #expect(found.output.contains("client-authentication refused"), "\(times): \(found)")
                #expect(found.errors.hasPrefix("Searched: since 20"), "\(found)")
            }
            #expect(try await list("--outcome", "refused", "--until", "1h").output == "No matching events.\n")
            let day = try await list("--since", "2027-01-31")
            let local = Moment.period(since: Moment.parse("2027-01-31T00:00"), before: nil) ?? ""
            #expect(day.errors.hasPrefix("Searched: \(local)") || day.errors.contains(local), "\(day)")
            let empty = try await list("--since", "1h", "--until", "2h")
            #expect(empty.status == 64 && empty.errors.contains("--until must be a later time than --since."))
            for text in ["tomorrow", "2 h", "h", "-2h", "2w", "1234567h", "٢h"] {
                let refused = try await list("--since=\(text)")
                #expect(
                    refused.status == 64 && refused.errors.contains("--since must be today, yesterday"), "\(refused)")
            }
        }
    }
}
