import CounterfoilServer
@_spi(Counterfoil) import CounterfoilTokens

/// The policy for unregistered apps in the output of commands.
struct UnregisteredPolicyOutput {
    private let policy: AdministrationRecord

    init(_ policy: AdministrationRecord) { self.policy = policy }

    /// The policy as text, one line for each member.
    private var words: String {
        UnregisteredPolicyDraft.Field.allCases.map { "\($0.rawValue): \(text($0))" }.joined(separator: "\n")
    }

    private func text(_ field: UnregisteredPolicyDraft.Field) -> String {
        switch policy.members[field.rawValue] {
        case .string(let text)?: return text.visible
        case .integer(let seconds)?: return "\(seconds) seconds"
        case .boolean(let isSet)?: return isSet ? "yes" : "no"
        case .array?:
            let values = policy.texts(field.rawValue).joined(separator: " ").visible
            return values.isEmpty ? (field == .allowedHosts ? "every host" : "none") : values
        default:
            return [.maximumScope: "every scope in the metadata", .resources: "every API"][field] ?? "server default"
        }
    }

    func print(json: Bool) throws {
        if json { return try Output.json(policy) }
        Output.line(words)
    }
}
