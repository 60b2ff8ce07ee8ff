import CounterfoilServer

/// The findings of `doctor` in text output.
enum FindingOutput {
    /// Returns a finding as lines.
    static func lines(of finding: AdministrationRecord) -> [String] {
        func shown(_ name: String) -> String? {
            finding.text(name).map { String(VisibleText(of: $0.unicodeScalars.prefix(4000)).scalars) }
        }
        let word =
            switch finding.text("weight").flatMap(ServerFinding.Weight.init) {
            case .sound: "ok     "
            case .advice, nil: "note   "
            case .fault: "FAULT  "
            }
        return [word + (shown("text") ?? "")] + (shown("mend").map { ["       → \($0)"] } ?? [])
    }
}

/// The results of all checks so far.
struct ServerFindings {
    private(set) var all: [ServerFinding] = []
    /// The settings of the file that the command names; nil without one.
    var settings: RecordedSettings?

    mutating func sound(_ topic: String, _ text: String) { all.append(ServerFinding(.sound, topic, text)) }

    mutating func advise(_ topic: String, _ text: String, mend: String) {
        all.append(ServerFinding(.advice, topic, text, mend: mend))
    }

    mutating func fault(_ topic: String, _ text: String, mend: String) {
        all.append(ServerFinding(.fault, topic, text, mend: mend))
    }

    /// Adds a fault from an error message, whose remedy is behind its first semicolon.
    ///
    /// - Parameter remedy: The remedy of a message without one.
    mutating func fault(_ topic: String, saying message: String, orElse remedy: String) {
        let parts = message.split(separator: "; ", maxSplits: 1).map(String.init)
        fault(topic, parts.first ?? message, mend: parts.count > 1 ? parts[1] : remedy)
    }
}
