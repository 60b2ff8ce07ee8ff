import CounterfoilProtocol
public import Foundation

/// What a provider says about a person, in an ID token or as the answer of the UserInfo endpoint.
///
/// OpenID Connect Core §5.1. Names of the claims that a token has of its own are never in here.
public struct PersonClaims: Sendable, Hashable {
    /// The value of a claim.
    public enum Value: Sendable, Hashable {
        /// A text.
        case text(String)
        /// Whether something is so.
        case flag(Bool)
        /// A time, written in whole seconds.
        case time(Date)
        /// A postal address by the names of its parts (OpenID Connect Core §5.1.1).
        case address([String: String])
    }

    /// The claims by name.
    public var values: [String: Value]

    /// Claims by name; none unless given.
    public init(_ values: [String: Value] = [:]) { self.values = values }

    /// Those of certain names.
    public func named(_ names: Set<String>) -> PersonClaims { PersonClaims(values.filter { names.contains($0.key) }) }

    /// The answer of the UserInfo endpoint, as JSON (OpenID Connect Core §5.3.2).
    public func encoded(subject: String) throws(SigningKey.Failure) -> [UInt8] {
        guard IDTokenClaims.isSubject(subject) else { throw .unusableClaim("sub") }
        var writer = JSONWriter()
        try writer.object { (writer: inout JSONWriter) throws(SigningKey.Failure) in
            writer.claim("sub", subject)
            try writer.claims(self)
        }
        return writer.bytes
    }
}

extension JSONWriter {
    /// Writes what is said about a person, by name.
    mutating func claims(_ claims: PersonClaims) throws(SigningKey.Failure) {
        for (name, value) in claims.values.sorted(by: { $0.key < $1.key }) {
            switch value {
            case .text(let text): member(name, text)
            case .flag(let flag): member(name, flag)
            case .time(let time): try claim(name, time)
            case .address(let parts): member(name, parts)
            }
        }
    }
}
