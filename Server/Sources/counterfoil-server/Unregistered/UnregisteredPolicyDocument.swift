import CounterfoilServer
import CounterfoilStore

extension UnregisteredPolicyDocument {
    /// The policy as text, one line for each field.
    var words: String {
        UnregisteredPolicyDraft.Field.allCases.map { "\($0.rawValue): \(policy.text($0))" }.joined(separator: "\n")
    }
}
