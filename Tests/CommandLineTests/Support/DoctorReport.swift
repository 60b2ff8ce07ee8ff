import CounterfoilClient
@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import TestSupport

/// The JSON report of `counterfoil doctor`.
struct DoctorReport: Decodable {
    struct Finding: Decodable {
        let weight: String
        let topic: String
        let text: String
        let why: String?
        let mend: String?
    }

    let findings: [Finding]
    let faults: Int

    var topics: [String] { findings.map(\.topic) }
    var faultTopics: [String] { topics(of: "fault") }
    var noteTopics: [String] { topics(of: "advice") }

    private func topics(of weight: String) -> [String] { findings.filter { $0.weight == weight }.map(\.topic) }

    /// Returns the first finding with a topic; nil if there is none.
    subscript(topic: String) -> Finding? { findings.first { $0.topic == topic } }

    /// Runs the doctor; for a sign-in, follows the `Open:` line.
    static func of(_ arguments: [String]) async throws -> (CommandLineTool.Outcome, DoctorReport) {
        let directory = try TemporaryDirectory()
        let visits = Mutex<[Task<Void, Never>]>([])
        let outcome = try await CommandLineTool.run(
            ["doctor", "--json", "--timeout", "2"] + arguments, home: directory.url
        ) { line in
            guard line.hasPrefix("Open: "), let url = try? BrowserURL(String(line.dropFirst(6))) else { return }
            visits.withLock { $0.append(Task { _ = await ScriptedBrowser().open(url) }) }
        }
        for visit in visits.withLock({ $0 }) { await visit.value }
        return (outcome, try JSONDecoder().decode(DoctorReport.self, from: Data(outcome.output.utf8)))
    }
}
