import CounterfoilProtocol
import Foundation
import PostgreSQLTesting
import TestSupport
import Testing

import struct TestSupport.Site

/// `counterfoil-server doctor` at states that a server or a restore has left.
extension DoctorTests {
    @Test(arguments: StoreOfSite.allCases)
    func `a server key that others can read is one fault, and the other checks continue`(
        _ kind: StoreOfSite
    ) async throws {
        try await kind.make { site in
            try await site.serving {}
            var key = site.dataDirectory + "/server.key"
            var options = site.storeOptions
            if case .database = kind {
                key = site.folder.path("server.key")
                let text = try #require(site.storeEnvironment["COUNTERFOIL_SERVER_KEY"])
                try Data(try #require(Base64URL.decode(text))).write(to: URL(fileURLWithPath: key))
                options += ["--server-key-file", key]
            }
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
            let report = try await Self.report(options, at: site)
            let topic = options.count > 2 ? "secrets-readable" : "files-readable"
            #expect(report.topics("fault") == [topic, "issuer-unreachable"])
            #expect(report.findings.count { $0.weight == "fault" } == 2)
            #expect(report.mend(topic) == "chmod 600 '\(key)'" || report.mend(topic) == "chmod 600 \(key)")
            #expect(report.topics("sound").contains("store"))
        }
    }

    @Test(arguments: StoreOfSite.allCases)
    func `a changed issuer is a warning of the server and a fault, until it is changed back`(
        _ kind: StoreOfSite
    ) async throws {
        try await kind.make { site in
            try await site.serving {}
            let other = "http://localhost:\(site.port)"
            for isNew in [true, false] {
                let server = try await site.start(issuer: other)
                try await server.whileRunning {
                    #expect(server.errors.contains("started with another issuer than before") == isNew)
                    let report = try Self.report(of: try await site.administer(["doctor", "--json"]))
                    #expect(report.topics("fault") == ["issuer-changed"])
                    let text = try #require(report.text("issuer-changed"))
                    #expect(text.contains("the issuer is \(other) since ") && text.contains("was \(site.issuer): apps"))
                    #expect(report.mend("issuer-changed")?.contains("with --issuer \(site.issuer); if") == true)
                }
            }
            try await site.serving {
                let report = try Self.report(of: try await site.administer(["doctor", "--json"]))
                #expect(report.topics("fault").isEmpty, "\(report.findings)")
            }
        }
    }

    @Test(arguments: StoreOfSite.allCases)
    func `an interrupted restore is a fault, and no command uses the store`(_ kind: StoreOfSite) async throws {
        try await kind.make { site in
            try await site.serving {}
            let database = site.dataDirectory + "/counterfoil.db"
            if case .database = kind {
                let name = try #require(site.storeOptions[1].split(separator: "/").last)
                _ = try await PostgreSQLServer.shared.value.sql(
                    "UPDATE endings_record SET restoring_from = last_number", database: String(name))
            } else {
                try FileManager.default.moveItem(atPath: database, toPath: database + ".restoring")
            }
            let report = try Self.report(of: try await site.administer(["doctor", "--json"]))
            #expect(report.topics("fault") == ["restore-incomplete"])
            #expect(report.mend("restore-incomplete")?.hasPrefix("run ") == true)
            for command in [
                ["user", "list"], ["scope", "create", "a", "--description", "b"],
                ["serve", "--issuer", site.issuer, "--listen", "127.0.0.1:0"],
            ] {
                let ended = try await site.administer(command)
                #expect(ended.status == 3 && ended.errors.contains("a restore "), "\(ended.errors)")
            }
        }
    }
}
