import Foundation
import GRDB
import TestSupport
import Testing

/// Administration commands whose audit event cannot be written, so that their change does not happen.
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

    @Test(arguments: ["create", "secret", "delete"])
    func `a change whose event cannot be written does not happen`(_ command: String) async throws {
        try await Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            let create = ["resource", "create", Self.uri, "--name", "Photo library", "--scope", "photos.read"]
            if command != "create" { #expect(try await site.administer(create).status == 0) }
            let before = try await site.administer(["resource", "list", "--json"]).output
            try Self.breakAuditLog(of: site)
            let ended = try await site.administer(command == "create" ? create : ["resource", command, Self.uri])
            #expect(ended.status != 0)
            #expect(ended.output.isEmpty)
            #expect(ended.errors.contains("nothing was changed"))
            #expect(try await site.administer(["resource", "list", "--json"]).output == before)
        }
    }
}
