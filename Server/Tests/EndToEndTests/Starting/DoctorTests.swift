import Foundation
import HTTPTypes
import TestSupport
import Testing

import struct TestSupport.Site

/// `counterfoil-server doctor`, at installations that are sound and at ones that are not.
@Suite(.timeLimit(.minutes(10)))
struct DoctorTests {
    struct Report: Decodable {
        struct Finding: Decodable {
            let weight: String
            let topic: String
            let text: String
            let mend: String?
        }

        let findings: [Finding]
        let faults: Int

        func text(_ topic: String) -> String? { findings.first { $0.topic == topic }?.text }

        func mend(_ topic: String) -> String? { findings.first { $0.topic == topic }?.mend }

        func topics(_ weight: String) -> Set<String> { Set(findings.filter { $0.weight == weight }.map(\.topic)) }
    }

    static func report(_ arguments: [String], at site: Site) async throws -> Report {
        try report(of: try await site.server(["doctor", "--json"] + arguments))
    }

    static func report(of ended: EndedProgram) throws -> Report {
        let report = try JSONDecoder().decode(Report.self, from: Data(ended.output.utf8))
        #expect(ended.status == (report.faults == 0 ? 0 : 1), "\(ended.errors)")
        #expect(report.topics("fault").isEmpty == (report.faults == 0))
        return report
    }

    @Test func `a sound installation has no fault, and each damage is a finding with its remedy`() async throws {
        try await Site.runEmpty { site in
            let directory = ["--data-dir", site.dataDirectory]
            let sound = try await Self.report(directory, at: site)
            #expect(sound.faults == 0, "\(sound.findings)")
            #expect(
                sound.topics("sound").isSuperset(of: [
                    "permissions", "disk", "store", "store-clock", "keys", "seals", "issuer", "metadata", "address",
                ]))
            #expect(sound.text("store-version")?.contains("SQLite 3.") == true)
            #expect(sound.topics("advice").isSuperset(of: ["backup-missing", "clock-unchecked"]))

            let database = site.dataDirectory + "/counterfoil.db"
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: database)
            let readable = try await Self.report(directory, at: site)
            #expect(readable.topics("fault") == ["files-readable"])
            #expect(readable.findings.first { $0.topic == "files-readable" }?.mend?.contains("chmod 600") == true)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: database)

            let copied = try await site.server(["backup", "--output", site.folder.path("copy")] + directory)
            #expect(copied.status == 0, "\(copied.errors)")
            #expect(try await Self.report(directory, at: site).topics("sound").contains("backup"))

            // The text has the same findings, one after the other, and the totals.
            let ended = try await site.server(["doctor"] + directory)
            #expect(ended.status == 0)
            #expect(ended.output.contains("ok     the store answers"))
            #expect(ended.output.contains("ok     the last backup was made on "))
            #expect(ended.output.hasSuffix("notes\n") || ended.output.hasSuffix("note\n"))
        }
    }

    @Test func `a store whose issuer is answered by a server on another store is a fault`() async throws {
        try await Site.make { site in
            try await site.serving {}
            let former = site.folder.path("former")
            let stopped = try await Self.report(["--data-dir", site.dataDirectory], at: site)
            #expect(stopped.topics("fault") == ["issuer-unreachable"])
            #if os(Linux)
                #expect(stopped.topics("advice").contains("not-running"))
                #expect(stopped.text("issuer-unreachable")?.hasSuffix("and no server runs on this store") == true)
                #expect(stopped.mend("issuer-unreachable")?.hasPrefix("start counterfoil-server serve") == true)
            #endif
            try FileManager.default.moveItem(atPath: site.dataDirectory, toPath: former)
            try await site.serving {
                let other = try await Self.report(["--data-dir", former], at: site)
                #expect(other.topics("fault") == ["keys-differ"])
            }
            let missing = try await Self.report(["--data-dir", site.folder.path("nowhere")], at: site)
            #expect(missing.topics("fault") == ["data-directory-missing"])
            // It creates nothing where it finds nothing.
            #expect(!FileManager.default.fileExists(atPath: site.folder.path("nowhere")))
        }
    }

    @Test func `a store of another server key is a fault`() async throws {
        try await Site.make { site in
            try await site.serving {}
            let key = URL(fileURLWithPath: site.dataDirectory + "/server.key")
            try FileManager.default.removeItem(at: key)
            try Data(repeating: 7, count: 32).write(to: key)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key.path)
            let report = try await Self.report(["--data-dir", site.dataDirectory], at: site)
            #expect(report.topics("fault") == ["store-fails"])
            #expect(report.text("store-fails")?.hasSuffix("is encrypted with another server key") == true)
            #expect(report.mend("store-fails")?.hasPrefix("restore the server.key") == true)
        }
    }

    @Test func `the server key can be a credential of systemd for doctor and restore`() async throws {
        try await Site.make { site in
            try await site.serving {}
            let credentials = site.folder.path("credentials")
            try FileManager.default.createDirectory(atPath: credentials, withIntermediateDirectories: false)
            try FileManager.default.moveItem(
                atPath: site.dataDirectory + "/server.key", toPath: credentials + "/server-key")
            func run(_ arguments: [String]) async throws -> EndedProgram {
                try await RunningProgram(
                    .server, arguments, environment: ["CREDENTIALS_DIRECTORY": credentials], in: site.folder
                ).ended()
            }
            let examined = try await run(["doctor", "--data-dir", site.dataDirectory])
            #expect(examined.output.contains("ok     the store answers"), "\(examined.output)")
            let (copy, restored) = (site.folder.path("copy"), site.folder.path("restored"))
            let copied = try await run(["backup", "--output", copy, "--data-dir", site.dataDirectory])
            #expect(copied.status == 0, "\(copied.errors)")
            let ended = try await run(["restore", copy, "--data-dir", restored, "--end-sign-ins"])
            #expect(ended.status == 0, "\(ended.errors)")
        }
    }

    @Test func `the store in a database is examined, too`() async throws {
        try await StoreOfSite.database.make { site in
            try await site.serving {
                let report = try Self.report(of: try await site.administer(["doctor", "--json"]))
                #expect(report.faults == 0, "\(report.findings)")
                #expect(report.topics("sound").isSuperset(of: ["store", "keys", "seals", "issuer", "metadata"]))
                #expect(report.text("store-version")?.contains("PostgreSQL") == true)
            }
            let stopped = try Self.report(of: try await site.administer(["doctor", "--json"]))
            #expect(stopped.topics("fault") == ["issuer-unreachable"])
        }
    }

    @Test func `the settings of the server decide on its metadata and on the files that are needed`() async throws {
        try await Site.make { site in
            let directory = ["--data-dir", site.dataDirectory]
            let settings = site.folder.path("server.yaml")
            try Data("require-pushed-requests: true\nconnections: 40\n".utf8).write(to: URL(fileURLWithPath: settings))
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: settings)
            let server = try await site.start(options: ["--config", settings])
            try await server.whileRunning {
                let sound = try await Self.report(directory, at: site)
                #expect(sound.faults == 0, "\(sound.findings)")
                #expect(sound.topics("sound").isSuperset(of: ["metadata", "permissions-of-settings"]))
                #expect(sound.text("permissions-of-settings")?.contains(settings) == true)
                #if os(Linux)
                    #expect(sound.text("descriptors")?.contains("enough for 40 connections") == true)
                #endif

                try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: settings)
                #expect(try await Self.report(directory, at: site).topics("fault") == ["files-writable"])
                try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: settings)

                // The server continues with the former settings, as one does that has missed a change.
                let noted = URL(fileURLWithPath: site.dataDirectory + "/last-settings.json")
                let text = try String(contentsOf: noted, encoding: .utf8)
                let name = #""require-pushed-requests" : "#
                let changed = text.replacing(name + #""yes""#, with: name + #""no""#)
                #expect(changed != text)
                try Data(changed.utf8).write(to: noted)
                let differing = try await Self.report(directory, at: site)
                #expect(differing.topics("advice").contains("metadata-differs"))
                #expect(
                    differing.text("metadata-differs")?.hasSuffix(" in require_pushed_authorization_requests") == true)
            }
        }
    }

    @Test func `the settings file that is named is examined, and compared with the settings in use`() async throws {
        try await Site.make { site in
            func write(_ name: String, _ lines: String) throws -> String {
                let path = site.folder.path(name)
                try Data("issuer: \(site.issuer)\nlisten: 127.0.0.1:\(site.port)\n\(lines)".utf8)
                    .write(to: URL(fileURLWithPath: path))
                try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
                return path
            }
            let used = try write("used.yaml", "data-dir: \(site.dataDirectory)\nconnections: 40\n")
            let server = try await site.start(options: ["--config", used])
            try await server.whileRunning {
                let sound = try await Self.report(["--config", used], at: site)
                #expect(sound.faults == 0, "\(sound.findings)")
                #expect(sound.text("settings") == "the settings in \(used) are valid")
                #expect(!sound.topics("advice").contains("settings-not-in-use"))

                let other = try write("other.yaml", "data-dir: \(site.dataDirectory)\nconnections: 50\n")
                let differing = try await Self.report(["--config", other], at: site)
                #expect(differing.faults == 0, "\(differing.findings)")
                #expect(
                    differing.text("settings-not-in-use")
                        == "the server that last started or reloaded has another value of connections, "
                        + "settings-file (\(used))")

                let authorities = "data-dir: \(site.dataDirectory)\noutbound-ca: \(site.folder.path("none.pem"))\n"
                let missing = try await Self.report(["--config", try write("missing.yaml", authorities)], at: site)
                #expect(missing.topics("fault") == ["settings-refused"])
                #expect(missing.text("settings-refused")?.contains("missing.yaml, line 4: outbound-ca: ") == true)

                let wrong = "data-dir: \(site.dataDirectory)\nsession-lifetime: 14 days\n"
                let refused = try await Self.report(["--config", try write("wrong.yaml", wrong)], at: site)
                #expect(refused.topics("fault") == ["settings-refused"])
                #expect(refused.text("settings-refused")?.contains("line 4: session-lifetime must be a time") == true)

                let path = site.folder.path("part.yaml")
                try Data("data-dir: \(site.dataDirectory)\n".utf8).write(to: URL(fileURLWithPath: path))
                let part = try await Self.report(["--config", path], at: site)
                #expect(part.faults == 0, "\(part.findings)")
                #expect(part.text("settings-incomplete") == "\(path) does not set issuer, listen")
            }
        }
    }

    @Test func `an endings journal that is gone is a fault, and the metrics of the server watch it`() async throws {
        try await Site.make { site in
            let folder = try site.folder.makeFolder("journal")
            let journal = folder.path("endings")
            let server = try await site.start(
                options: ["--endings-journal", journal, "--metrics-listen", "127.0.0.1:0"])
            try await server.whileRunning {
                let sound = try await Self.report(["--data-dir", site.dataDirectory], at: site)
                #expect(sound.text("endings-journal") == "the endings journal \(journal) has every ending of the store")
                let metrics = try await server.said("where metrics are") { program in
                    program.errors.firstMatch(of: /Metrics are at (http:\S+\/metrics)\./).map { String($0.output.1) }
                }
                var agent = UserAgent()
                let text = try await agent.send(.get, metrics).body
                #expect(text.contains("\ncounterfoil_endings_journal_failures_total 0\n"))
                #expect(text.contains("\ncounterfoil_endings_journal_age_seconds "))
            }
            // A server that runs would create the file again.
            func journalFaults() async throws -> [String] {
                let report = try await Self.report(["--data-dir", site.dataDirectory], at: site)
                return report.topics("fault").subtracting(["issuer-unreachable"]).sorted()
            }
            #expect(try await journalFaults() == [])
            try FileManager.default.moveItem(atPath: journal, toPath: site.folder.path("moved"))
            #expect(try await journalFaults() == ["endings-journal-missing"])
            try FileManager.default.createDirectory(
                atPath: journal, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            #expect(try await journalFaults() == ["endings-journal-unusable"])
            try FileManager.default.removeItem(at: folder.url)
            #expect(try await journalFaults() == ["endings-journal-missing"])
        }
    }

    @Test func `a forged address that the server believes from this machine is named`() async throws {
        try await Site.make { site in
            let server = try await site.start(options: ["--trusted-proxy", "127.0.0.1"])
            try await server.whileRunning {
                let report = try await Self.report(["--data-dir", site.dataDirectory], at: site)
                #expect(report.topics("advice").contains("address-local"))
                #expect(
                    report.text("address-local")
                        == "the server sees this machine as 127.0.0.1, whose field X-Forwarded-For it believes")
            }
        }
    }

    @Test func `the clock is compared with that of another web server`() async throws {
        try await Site.make { site in
            try await site.serving {}
            let authority = try TLSAuthority()
            func judged(_ url: String) async throws -> Report {
                try await Self.report(
                    ["--data-dir", site.dataDirectory, "--clock-from", url, "--tls-authority", authority.certificate],
                    at: site)
            }
            try authority.answer("HTTP/1.0 200 OK\r\n\r\n", named: "none")
            for (name, date) in [("past", Date() - 3600), ("present", Date())] {
                let formatter = DateFormatter()
                formatter.locale = Locale(identifier: "en_US_POSIX")
                formatter.timeZone = TimeZone(secondsFromGMT: 0)
                formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
                try authority.answer("HTTP/1.0 200 OK\r\nDate: \(formatter.string(from: date))\r\n\r\n", named: name)
            }
            try await authority.run(sendsFiles: true) { port in
                let origin = "https://localhost:\(port)"
                #expect(try await judged(origin + "/present").topics("sound").contains("clock"))
                #expect(try await judged(origin + "/past").topics("fault").contains("clock"))
                let none = try await judged(origin + "/none")
                #expect(none.text("clock-unchecked") == "the response of \(origin)/none has no time")
            }
            let unreachable = try await judged("https://localhost:\(site.port)/")
            #expect(unreachable.text("clock-unchecked")?.hasPrefix("the clock could not be compared") == true)
        }
    }

    @Test func `a certificate is judged as clients judge it`() async throws {
        try await Site.make { site in
            let authority = try TestAuthority()
            // A fifth of the validity is left.
            let issued = try authority.issue(
                for: ["localhost"], from: Date().addingTimeInterval(-40 * 86_400),
                until: Date().addingTimeInterval(10 * 86_400))
            let (certificate, key) = (site.folder.path("certificate.pem"), site.folder.path("key.pem"))
            try Data(issued.certificate.utf8).write(to: URL(fileURLWithPath: certificate))
            try Data(issued.key.utf8).write(to: URL(fileURLWithPath: key))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
            let root = site.folder.path("root.pem")
            try Data(try authority.pem.utf8).write(to: URL(fileURLWithPath: root))
            let server = try await site.start(
                issuer: "https://localhost:\(site.port)",
                options: ["--tls-certificate", certificate, "--tls-key", key])
            try await server.whileRunning {
                let directory = ["--data-dir", site.dataDirectory]
                let unknown = try await Self.report(directory, at: site)
                #expect(unknown.topics("fault") == ["certificate", "issuer-unreachable"])
                for topic in ["certificate", "issuer-unreachable"] {
                    let text = try #require(unknown.text(topic))
                    #expect(text.contains("no authority that this machine trusts has issued it"), "\(text)")
                    #expect(!text.contains("SSL routines"), "\(text)")
                }
                let trusted = try await Self.report(directory + ["--tls-authority", root], at: site)
                #expect(trusted.faults == 0, "\(trusted.findings)")
                #expect(trusted.topics("advice").contains("certificate-expires"))
                #expect(trusted.topics("sound").contains("issuer"))
                // With https, this address could be that of a proxy that hides its clients.
                #expect(trusted.text("address-hidden")?.contains("sees this machine as 127.0.0.1") == true)
                try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
                let readable = try await Self.report(directory + ["--tls-authority", root], at: site)
                #expect(readable.topics("fault") == ["secrets-readable"])
                #expect(readable.text("secrets-readable")?.hasSuffix(key) == true)
            }
        }
    }
}
