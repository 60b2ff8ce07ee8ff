/// A result of one check in an examination.
struct Finding: Sendable, Encodable {
    /// The severity of a finding, in ascending order.
    enum Weight: String, Sendable, Encodable {
        /// The behavior is correct.
        case sound
        /// The behavior works, but deserves attention.
        case advice
        /// The behavior prevents a sign-in or makes it unsafe.
        case fault
    }

    let weight: Weight
    /// A stable identifier of the finding for scripts, such as `refresh-fails`.
    let topic: String
    let text: String
    /// The consequence, such as the clients that fail; nil if the text says it.
    var why: String?
    /// The remedy; nil if none is needed.
    let mend: String?
    /// The exit code of the program if this finding is the first fault.
    let status: ExitStatus

    private enum CodingKeys: CodingKey {
        case weight, topic, text, why, mend
    }

    /// The lines of the finding in text output.
    var lines: [String] {
        let word =
            switch weight {
            case .sound: "ok     "
            case .advice: "note   "
            case .fault: "FAULT  "
            }
        let reason = why.map { ["       because \($0)"] } ?? []
        return ["\(word)\(text)"] + reason + (mend.map { ["       → \($0)"] } ?? [])
    }
}
