import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation
import TestSupport
import Testing

/// The times that commands store come from the clock of the running server, whatever the wall clock shows.
@Suite(.timeLimit(.minutes(10)))
struct CommandClockTests {
    private static let day = 86_400

    @Test func `while a server runs, commands take the time from it`() async throws {
        try await TestSupport.Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            let times = Date(timeIntervalSince1970: 4_000_000_000)
            let server = try SQLiteStore(at: site.dataDirectory + "/counterfoil.db", clockStart: times)
            try await server.recordService(at: server.now(), outageAfter: .infinity)
            let added = try await site.administer(["registration-token", "add", "Partners", "--days", "1", "--json"])
            #expect(added.status == 0, "\(added.errors)")
            let token = try #require(
                try JSONSerialization.jsonObject(with: Data(added.output.utf8)) as? [String: Any])
            let created = try #require(token["created_at"] as? Int)
            #expect((4_000_000_000..<4_000_000_060).contains(created))
            #expect(token["expires_at"] as? Int == created + Self.day)
            let last = try #require(try await server.audit(.init(limit: 1)).first)
            #expect(abs(last.event.at.timeIntervalSince(times)) < 60)
            await server.close()
        }
    }
}
