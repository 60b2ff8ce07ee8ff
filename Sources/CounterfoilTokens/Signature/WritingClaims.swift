import CounterfoilPlatform
@_spi(Counterfoil) import CounterfoilProtocol

/// The JSON encoding of claims (RFC 7519 §4.1); nil claims are omitted.
extension JSONWriter {
    mutating func claim(_ name: String, _ value: String?) {
        if let value { member(name, value) }
    }

    /// Writes a time claim in whole seconds; throws if the time is outside the range of `NumericDate`.
    mutating func claim(_ name: String, _ value: Date?) throws(SigningKey.Failure) {
        guard let value else { return }
        guard let seconds = NumericDate.seconds(value) else { throw .unusableClaim(name) }
        member(name, seconds)
    }

    /// Writes `amr` (RFC 8176 §1); omitted if empty.
    mutating func claim(authenticationMethods: [String]) {
        guard !authenticationMethods.isEmpty else { return }
        member("amr", list: { writer in for method in authenticationMethods { writer.element(method) } })
    }

    /// Writes `aud`: a single audience as a string, several audiences as an array (RFC 7519 §4.1.3).
    ///
    /// Throws if there is no audience or an audience is empty.
    mutating func claim(audience: [String]) throws(SigningKey.Failure) {
        guard let first = audience.first, audience.allSatisfy({ !$0.isEmpty }) else { throw .unusableClaim("aud") }
        if audience.count == 1 {
            member("aud", first)
        } else {
            member("aud", list: { writer in for value in audience { writer.element(value) } })
        }
    }
}
