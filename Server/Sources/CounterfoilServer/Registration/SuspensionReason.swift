import CounterfoilStore
import Foundation

extension ClientSuspension {
    /// Returns a typed reason without white space around it; nil unless it has 1 to 500 visible characters on one line.
    package static func reason(_ typed: String) -> String? {
        let reason = typed.trimmingCharacters(in: .whitespacesAndNewlines)
        return DisplayName.isShownWhole(reason, length: 1...reasonLimit) ? reason : nil
    }
}
