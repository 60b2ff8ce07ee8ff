import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPListener
import Logging
import TestSupport
import Testing

@testable import CounterfoilWeb

/// The metrics of a server with everything around it, and the files that name them.
@Suite("Monitoring: metrics, dashboard, alerts and their documents")
struct MonitoringTests {
    /// A store on a file and one in a database, with what they have measured.
    private static func measurements(of meter: StoreMeter) -> [StoreMeasurements] {
        [
            StoreMeasurements(
                .sqlite, meter, waiting: 3, files: StoreMeasurements.Files(database: 4096, writeAheadLog: 8192)),
            StoreMeasurements(
                .postgresql, meter, waiting: 2, connections: StoreMeasurements.Connections(open: 5, limit: 8)),
        ]
    }

    /// The metrics with every source, once for each store.
    private static func texts(_ meter: StoreMeter = StoreMeter()) async throws -> [String] {
        let test = try await TestServer(mailSender: MailRecorder())
        let issued = try TestAuthority().issue(for: ["id.example.com"])
        let certificate = try await ServerCertificate(
            chain: issued.certificate, key: issued.key, hosts: ["id.example.com"], at: Date())
        // An ordered certificate has the metrics of one from files, and those of the orders.
        let ordered = OrderedCertificate()
        ordered.current.replace(by: certificate)
        var texts: [String] = []
        for measurements in measurements(of: meter) {
            var sources = MetricsSources(
                connections: OpenConnections(settings: test.server.settings, logger: Logger(label: "test")),
                certificate: ordered.current)
            sources.orders = ordered.failures
            sources.store = { measurements }
            sources.dataDirectory = FileManager.default.temporaryDirectory.path
            sources.lastBackup = { Date(timeIntervalSince1970: 1_800_000_000) }
            sources.droppedSpans = { 7 }
            sources.endingsJournal = { (failures: 2, age: 40.5) }
            sources.endingsJournalPath = FileManager.default.temporaryDirectory.path + "/endings"
            sources.differingSettings = { 2 }
            sources.storeSpace = {
                measurements.kind == .sqlite
                    ? StoreSpace(database: 12_288, free: 4096) : StoreSpace(database: 1 << 20, free: nil)
            }
            texts.append(await MetricsResponder(test.server, sources).text())
        }
        return texts
    }

    /// The names of the families that the server exposes.
    private static func families() async throws -> Set<String> {
        Set(try await texts().flatMap { $0.matches(of: #/(?m)^# TYPE (\w+) /#).map { String($0.output.1) } })
    }

    /// The names of metrics in a text, without the suffixes of a histogram.
    private static func names(in text: String, of families: Set<String>) -> Set<String> {
        Set(
            text.matches(of: /\b(?:counterfoil|process)_[a-z_]+/).map { match in
                let name = String(match.output)
                let suffix = ["_bucket", "_sum", "_count"].first { name.hasSuffix($0) } ?? ""
                let family = String(name.dropLast(suffix.count))
                return families.contains(family) ? family : name
            })
    }

    @Test func `the dashboard and the alerts name only metrics that the server exposes`() async throws {
        let families = try await Self.families()
        for name in ["grafana-dashboard.json", "alerts.yaml", "alerts-test.yaml"] {
            let named = Self.names(in: try Repository.text("Server/Monitoring/\(name)"), of: families)
            #expect(named.count >= 20, "\(name)")
            #expect(named.subtracting(families) == [], "\(name)")
        }
    }

    @Test func `the table of the metrics lists each one and no other`() async throws {
        let listed = try Repository.text("docs/operations/metrics.md").matches(
            of: /(?m)^\| `((?:counterfoil|process)_\w+)` \|/
        )
        .map { String($0.output.1) }
        #expect(Set(listed).count == listed.count)
        #expect(Set(listed).symmetricDifference(try await Self.families()) == [])
    }

    @Test func `every alert has a test that fires, one that does not, and a section that says what to do`() throws {
        let alerts = try Repository.text("Server/Monitoring/alerts.yaml")
        let names = alerts.matches(of: /(?m)^ +- alert: (\w+)$/).map { String($0.output.1) }
        #expect(names.count >= 20 && Set(names).count == names.count)
        let runbooks = alerts.matches(of: /(?m)^ +runbook: docs\/alerts\.md#(\w+)$/).map { String($0.output.1) }
        // An anchor of a page is its heading in lowercase.
        #expect(runbooks == names.map { $0.lowercased() })
        let sections = try Repository.text("docs/alerts.md").matches(of: /(?m)^## (Counterfoil\w+)$/)
            .map { String($0.output.1) }
        #expect(sections == names)
        let tests = try Repository.text("Server/Monitoring/alerts-test.yaml").matches(of: /(?m)^  - name: (.+)$/)
            .map { String($0.output.1) }
        #expect(tests == names.flatMap { ["\($0) fires", "\($0) does not fire"] })
    }

    @Test func `the panels of the dashboard have ids of their own and do not overlap`() throws {
        struct Dashboard: Decodable {
            struct Panel: Decodable {
                struct GridPosition: Decodable { let x, y, w, h: Int }
                struct Target: Decodable { let expr: String }

                let id: Int
                let type, title: String
                let description: String?
                let gridPos: GridPosition
                let targets: [Target]?
            }

            let uid, title: String
            let schemaVersion: Int
            let panels: [Panel]
        }

        let dashboard = try JSONDecoder().decode(
            Dashboard.self, from: Data(try Repository.text("Server/Monitoring/grafana-dashboard.json").utf8))
        #expect(Set(dashboard.panels.map(\.id)).count == dashboard.panels.count)
        var taken: Set<[Int]> = []
        for panel in dashboard.panels {
            let place = panel.gridPos
            #expect(place.x >= 0 && place.x + place.w <= 24, "\(panel.title)")
            for x in place.x..<place.x + place.w {
                for y in place.y..<place.y + place.h { #expect(taken.insert([x, y]).inserted, "\(panel.title)") }
            }
            guard panel.type != "row" else { continue }
            #expect(panel.description?.isEmpty == false && panel.targets?.isEmpty == false, "\(panel.title)")
        }
    }

    @Test func `a refused certificate is shown until another one is accepted`() async throws {
        let start = Date(timeIntervalSince1970: (Date().timeIntervalSince1970 - 3600).rounded())
        let issued = try TestAuthority().issue(for: ["id.example.com"], from: start, until: start + 86_400)
        let certificate = try await ServerCertificate(
            chain: issued.certificate, key: issued.key, hosts: ["id.example.com"], at: Date())
        let current = CurrentCertificate(certificate)
        func text() -> String {
            var text = MetricsText()
            text.write(current.snapshot)
            return text.text
        }
        #expect(text().contains("\ncounterfoil_tls_certificate_refused 0\n"))
        let seconds = Int(start.timeIntervalSince1970)
        #expect(text().contains("\ncounterfoil_tls_certificate_start_timestamp_seconds \(seconds)\n"))
        #expect(text().contains("\ncounterfoil_tls_certificate_expiry_timestamp_seconds \(seconds + 86_400)\n"))
        current.noteFailure()
        #expect(text().contains("\ncounterfoil_tls_certificate_refused 1\n"))
        current.replace(by: certificate)
        #expect(text().contains("\ncounterfoil_tls_certificate_refused 0\n"))
    }

    @Test func `the metrics of the store have its durations, faults, batches and sizes`() async throws {
        let meter = StoreMeter()
        meter.note(.read, since: .now)
        meter.note(.read, since: .now - .seconds(2), fault: .damaged("a page"))
        meter.note(.commit, since: .now - .milliseconds(30))
        meter.noteBatch(of: 3)
        let texts = try await Self.texts(meter)
        let file = try #require(texts.first).split(separator: "\n").map(String.init)
        let database = try #require(texts.last).split(separator: "\n").map(String.init)
        let read = #"counterfoil_store_operation_duration_seconds_bucket{store="sqlite",operation="read""#
        for line in [
            #"\#(read),le="1.0"} 1"#, #"\#(read),le="2.5"} 2"#, #"\#(read),le="+Inf"} 2"#,
            #"counterfoil_store_operation_duration_seconds_count{store="sqlite",operation="commit"} 1"#,
            #"counterfoil_store_faults_total{store="sqlite",operation="read",fault="damaged"} 1"#,
            #"counterfoil_store_faults_total{store="sqlite",operation="commit",fault="damaged"} 0"#,
            #"counterfoil_store_batch_size_bucket{store="sqlite",le="2.0"} 0"#,
            #"counterfoil_store_batch_size_bucket{store="sqlite",le="4.0"} 1"#,
            #"counterfoil_store_operations_waiting{store="sqlite"} 3"#, "counterfoil_store_file_bytes 4096",
            "counterfoil_store_wal_bytes 8192", "counterfoil_store_database_bytes 12288",
            "counterfoil_store_database_free_bytes 4096", "counterfoil_password_hashes_waiting 0",
            "counterfoil_backup_last_success_timestamp_seconds 1800000000",
            "counterfoil_endings_journal_failures_total 2", "counterfoil_endings_journal_age_seconds 40.5",
        ] {
            #expect(file.contains(line), "\(line)")
        }
        for line in [
            "counterfoil_store_connections 5", "counterfoil_store_connections_limit 8",
            #"counterfoil_store_operations_waiting{store="postgresql"} 2"#,
            "counterfoil_endings_journal_failures_total 2", "counterfoil_endings_journal_age_seconds 40.5",
        ] {
            #expect(database.contains(line), "\(line)")
        }
        #expect(!database.contains { $0.hasPrefix("counterfoil_store_wal_bytes") })
    }

    @Test func `the metrics of the process are those of this process`() async throws {
        let lines = try #require(try await Self.texts().first).split(separator: "\n")
        func value(of name: String) throws -> Double {
            let line = try #require(lines.first { $0.hasPrefix(name + " ") })
            return try #require(Double(line.dropFirst(name.count + 1)))
        }
        #expect(try value(of: "process_resident_memory_bytes") > 1_048_576)
        #expect(try value(of: "process_open_fds") >= 3)
        #expect(try value(of: "process_max_fds") >= value(of: "process_open_fds"))
        #expect(try value(of: "process_cpu_seconds_total") > 0)
        let start = try value(of: "process_start_time_seconds")
        #expect(start <= Date().timeIntervalSince1970 + 1 && start > Date().timeIntervalSince1970 - 86_400)
        #expect(
            try value(of: "counterfoil_filesystem_avail_bytes") <= value(of: "counterfoil_filesystem_size_bytes"))
    }
}
