import ArgumentParser

/// The output of an examination; its first fault determines the exit code.
struct FindingReport {
    let findings: [Finding]

    /// Writes the findings as lines or as JSON; throws the exit code of the first fault, if there is one.
    func write(to console: CommandOutput) throws {
        struct Report: Encodable {
            let findings: [Finding]
            let faults: Int
        }
        let faults = findings.filter { $0.weight == .fault }
        if console.writesJSON {
            try console.result(Report(findings: findings, faults: faults.count))
        } else {
            for line in findings.flatMap(\.lines) { try console.result(line) }
            let notes = findings.count { $0.weight == .advice }
            try console.result("")
            try console.result("\(Self.count(faults.count, "fault")), \(Self.count(notes, "note"))")
        }
        if let first = faults.first { throw ExitCode(first.status.rawValue) }
    }

    private static func count(_ number: Int, _ word: String) -> String { "\(number) \(word)\(number == 1 ? "" : "s")" }
}
