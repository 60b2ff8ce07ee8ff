import Foundation

/// Claims that a known key has signed; whether they are for us, and still valid, is not known yet.
struct AuthenticClaims: Sendable, Hashable {
    /// The claims by name.
    let members: [String: JSONValue]
    /// The algorithm that they are signed with.
    let algorithm: SigningAlgorithm

    /// A claim that must be there and is a text of at least one character.
    func text(_ name: String) throws(TokenRefusal) -> String {
        guard let text = try optionalText(name) else { throw .missingClaim(name) }
        guard !text.isEmpty else { throw .invalidClaim(name) }
        return text
    }

    /// A claim that is a text where it is there.
    func optionalText(_ name: String) throws(TokenRefusal) -> String? {
        switch members[name] {
        case nil: return nil
        case .string(let text): return text
        default: throw .invalidClaim(name)
        }
    }

    /// A claim that must be there and is a time.
    func date(_ name: String) throws(TokenRefusal) -> Date {
        guard let date = try optionalDate(name) else { throw .missingClaim(name) }
        return date
    }

    /// A claim that is a time where it is there.
    func optionalDate(_ name: String) throws(TokenRefusal) -> Date? {
        guard let value = members[name] else { return nil }
        guard let date = NumericDate.date(value) else { throw .invalidClaim(name) }
        return date
    }

    /// The audiences: one text or a list of them (RFC 7519 §4.1.3).
    func audience() throws(TokenRefusal) -> [String] {
        switch members["aud"] {
        case nil: throw .missingClaim("aud")
        case .string(let text): return [text]
        case .array(let values) where !values.isEmpty:
            var audience: [String] = []
            for value in values {
                guard case .string(let text) = value else { throw .invalidClaim("aud") }
                audience.append(text)
            }
            return audience
        default: throw .invalidClaim("aud")
        }
    }
}

extension String {
    /// Whether two texts have the same bytes.
    ///
    /// `==` also takes texts as equal that Unicode deems equivalent; identifiers are compared without any such rule
    /// (RFC 7519 §2, StringOrURI).
    func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
