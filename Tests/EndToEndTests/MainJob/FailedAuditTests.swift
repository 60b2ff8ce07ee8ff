import Foundation
import GRDB
import TestSupport
import Testing

/// Administration commands whose change succeeds, but whose audit event cannot be written.
@Suite(.timeLimit(.minutes(10)))
struct FailedAuditTests {
    private static let uri = "https://photos.example.com"

    /// Lets every insertion into the audit log of a site fail, as a full disk could.
    private static func breakAuditLog(of site: Site) throws {
        let database = try DatabaseQueue(path: site.dataDirectory + "/counterfoil.db")
        try database.write { (database: Database) throws in
            try database.execute(
                sql: "CREATE TRIGGER broken BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'broken'); END")
        }
        try database.close()
    }

    // The old secret is invalid by then, so the new one must be shown.
    @Test(arguments: ["create", "secret"])
    func `the secret of an API is shown even if the audit log cannot be written`(_ command: String) async throws {
        try await Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            let create = ["resource", "create", Self.uri, "--name", "Photo library", "--scope", "photos.read"]
            if command == "secret" { #expect(try await site.administer(create).status == 0) }
            try Self.breakAuditLog(of: site)
            let ended = try await site.administer(
                command == "secret" ? ["resource", "secret", Self.uri, "--json"] : create + ["--json"])
            #expect(ended.status == 0)
            #expect(ended.output.contains(/"client_secret":"[A-Za-z0-9_\-]{43}"/))
            #expect(ended.errors.contains("warning: the change is done, but recording it in the audit log failed"))
            #expect(!ended.errors.contains("nothing was changed"))
        }
    }

    @Test func `an API is deleted even if the audit log cannot be written`() async throws {
        try await Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            _ = try await site.administer(
                ["resource", "create", Self.uri, "--name", "Photo library", "--scope", "photos.read"])
            try Self.breakAuditLog(of: site)
            let ended = try await site.administer(["resource", "delete", Self.uri])
            #expect(ended.status == 0)
            #expect(ended.output == "Deleted Photo library, \(Self.uri).\n")
            #expect(!(try await site.administer(["resource", "list"])).output.contains(Self.uri))
        }
    }
}
