import CounterfoilProtocol
import Foundation

/// The JSON forms of claims (RFC 7519 §4.1); a claim without a value is left out.
extension JSONWriter {
    /// Writes a claim that is a text.
    mutating func claim(_ name: String, _ value: String?) {
        if let value { member(name, value) }
    }

    /// Writes a claim that is a time, in whole seconds.
    mutating func claim(_ name: String, _ value: Date?) throws(SigningKey.Failure) {
        guard let value else { return }
        guard let seconds = NumericDate.seconds(value) else { throw .unusableClaim(name) }
        member(name, seconds)
    }

    /// Writes `aud`: one audience as a text, several as a list (RFC 7519 §4.1.3).
    mutating func claim(audience: [String]) throws(SigningKey.Failure) {
        guard let first = audience.first, audience.allSatisfy({ !$0.isEmpty }) else { throw .unusableClaim("aud") }
        if audience.count == 1 {
            member("aud", first)
        } else {
            member("aud", list: { writer in for value in audience { writer.element(value) } })
        }
    }
}
