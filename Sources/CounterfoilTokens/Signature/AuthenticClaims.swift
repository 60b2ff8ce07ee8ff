import Foundation

/// The claims of a token whose signature has been verified.
///
/// Issuer, audience and validity period are not verified yet.
struct AuthenticClaims: Sendable, Hashable {
    /// The claims, keyed by name.
    let members: [String: JSONValue]
    /// The algorithm of the signature.
    let algorithm: SigningAlgorithm

    /// Returns a required, non-empty string claim.
    func text(_ name: String) throws(TokenRefusal) -> String {
        guard let text = try optionalText(name) else { throw .missingClaim(name) }
        guard !text.isEmpty else { throw .invalidClaim(name) }
        return text
    }

    /// Returns an optional string claim; nil if it is missing.
    func optionalText(_ name: String) throws(TokenRefusal) -> String? {
        switch members[name] {
        case nil: return nil
        case .string(let text): return text
        default: throw .invalidClaim(name)
        }
    }

    /// Returns a required time claim.
    func date(_ name: String) throws(TokenRefusal) -> Date {
        guard let date = try optionalDate(name) else { throw .missingClaim(name) }
        return date
    }

    /// Returns an optional time claim; nil if it is missing.
    func optionalDate(_ name: String) throws(TokenRefusal) -> Date? {
        guard let value = members[name] else { return nil }
        guard let date = NumericDate.date(value) else { throw .invalidClaim(name) }
        return date
    }

    /// Returns the audiences: `aud` is one string or an array of strings (RFC 7519 §4.1.3).
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
    /// Returns true if two strings have the same UTF-8 bytes.
    ///
    /// `==` also treats strings as equal that are canonically equivalent in Unicode. Identifiers are
    /// compared without normalization (RFC 7519 §2, StringOrURI).
    func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
