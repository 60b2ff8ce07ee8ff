import CounterfoilPlatform

/// The claims of a token whose header and signature have been verified.
///
/// Issuer, audience and validity period are not verified yet.
struct AuthenticClaims: Sendable, Hashable {
    /// The claims, keyed by name.
    let members: [String: JSONValue]
    /// The type of the token, one of those that the verifier accepts; nil if the header has none.
    let type: TokenType?
    /// The algorithm of the signature, which determines the hash function of `at_hash`.
    let algorithm: SigningAlgorithm

    /// Returns a string claim; throws if it is missing, empty or not a string.
    func text(_ name: String) throws(TokenRefusal) -> String {
        guard let text = try optionalText(name) else { throw .missingClaim(name) }
        guard !text.isEmpty else { throw .invalidClaim(name) }
        return text
    }

    /// Returns a string claim; nil if it is missing, and throws if it is not a string.
    func optionalText(_ name: String) throws(TokenRefusal) -> String? {
        switch members[name] {
        case nil: return nil
        case .string(let text): return text
        default: throw .invalidClaim(name)
        }
    }

    /// Returns a time claim; throws if it is missing or not a valid NumericDate.
    func date(_ name: String) throws(TokenRefusal) -> Date {
        guard let date = try optionalDate(name) else { throw .missingClaim(name) }
        return date
    }

    /// Returns a time claim; nil if it is missing, and throws if it is not a valid NumericDate.
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
        case .array(let values) where !values.isEmpty: return try Self.texts(values, of: "aud")
        default: throw .invalidClaim("aud")
        }
    }

    /// Returns the methods by which the user signed in: `amr` is an array of strings (RFC 8176 §1); empty if missing.
    func authenticationMethods() throws(TokenRefusal) -> [String] {
        switch members["amr"] {
        case nil: return []
        case .array(let values): return try Self.texts(values, of: "amr")
        default: throw .invalidClaim("amr")
        }
    }

    private static func texts(_ values: [JSONValue], of claim: String) throws(TokenRefusal) -> [String] {
        var texts: [String] = []
        for value in values {
            guard case .string(let text) = value else { throw .invalidClaim(claim) }
            texts.append(text)
        }
        return texts
    }
}

extension String {
    /// Returns true if two strings have the same UTF-8 bytes.
    ///
    /// Identifiers are compared without normalization (RFC 7519 §2, StringOrURI). The operator `==` is unsuitable: to
    /// it, strings that are canonically equivalent in Unicode are equal.
    func hasSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }
}
