/// One thing that an examination found.
struct Finding: Sendable, Encodable {
    /// How much it matters.
    enum Weight: String, Sendable, Encodable {
        /// It is as it should be.
        case sound
        /// It works, and is worth knowing.
        case advice
        /// It is in the way of a sign-in, or makes one unsafe.
        case fault
    }

    let weight: Weight
    /// A word for machines, which stays the same.
    let topic: String
    /// What was found.
    let text: String
    /// What to do about it; nil when there is nothing to do.
    let mend: String?
    /// What the program ends with when this is its first fault.
    let status: ExitStatus

    private enum CodingKeys: CodingKey {
        case weight, topic, text, mend
    }

    /// The lines for a person.
    var lines: [String] {
        let word =
            switch weight {
            case .sound: "ok     "
            case .advice: "note   "
            case .fault: "FAULT  "
            }
        return ["\(word)\(text)"] + (mend.map { ["       → \($0)"] } ?? [])
    }
}
