/// A challenge of a `WWW-Authenticate` field, of any authentication scheme.
///
/// RFC 9110 §11.6.1 and §11.2. A response may contain several such fields, and each field several challenges.
/// Commas separate the challenges of a field, and also the parameters of a challenge.
public struct AuthenticationChallenge: Sendable, Hashable {
    /// The scheme in lower case, for example `bearer`.
    public let scheme: String
    /// The `token68` value, which a challenge may have in place of parameters; nil if it has none.
    public let token68: String?
    /// The parameters, keyed by lower-case name.
    ///
    /// A parameter that occurs more than once is omitted.
    public let parameters: [String: String]

    /// The maximum length of a field in bytes; ``list(in:)`` returns no challenges for a longer field.
    public static let byteLimit = 16 * 1024
    /// The maximum number of challenges in a field; ``list(in:)`` ignores further challenges.
    public static let challengeLimit = 20
    /// The maximum number of parameters in a challenge; ``list(in:)`` discards a challenge with more, and stops there.
    public static let parameterLimit = 50

    /// The value of a parameter by its case-insensitive name; nil if the parameter is missing or repeated.
    public subscript(name: String) -> String? { parameters[name.lowercased()] }

    /// Parses the value of a `WWW-Authenticate` field.
    ///
    /// Parsing stops at the first syntax error. The result then contains the challenges before the error.
    public static func list(in field: String) -> [AuthenticationChallenge] {
        guard field.utf8.count <= byteLimit else { return [] }
        var reader = Reader(bytes: Array(field.utf8))
        return reader.challenges()
    }

    private init(scheme: String, token68: String?, pairs: [(name: String, value: String)]) {
        self.scheme = scheme
        self.token68 = token68
        var parameters: [String: String] = [:]
        var repeated: Set<String> = []
        for (name, value) in pairs where parameters.updateValue(value, forKey: name) != nil { repeated.insert(name) }
        self.parameters = parameters.filter { !repeated.contains($0.key) }
    }
}

extension AuthenticationChallenge {
    /// A parser that reads the field from left to right and backtracks by at most one parameter.
    private struct Reader {
        let bytes: [UInt8]
        var position = 0

        var next: UInt8? { position < bytes.count ? bytes[position] : nil }

        mutating func challenges() -> [AuthenticationChallenge] {
            var found: [AuthenticationChallenge] = []
            while found.count < AuthenticationChallenge.challengeLimit {
                skipListSeparators()
                guard let scheme = token() else { return found }
                guard let challenge = challenge(scheme: scheme) else { return found }
                found.append(challenge)
            }
            return found
        }

        /// Parses the part of a challenge after its scheme; returns nil if it does not follow the grammar.
        private mutating func challenge(scheme: String) -> AuthenticationChallenge? {
            let scheme = scheme.lowercased()
            let spaces = skipSpaces()
            guard let byte = next, byte != UInt8(ascii: ",") else {
                return AuthenticationChallenge(scheme: scheme, token68: nil, pairs: [])
            }
            guard spaces > 0 else { return nil }
            if let text = token68() { return AuthenticationChallenge(scheme: scheme, token68: text, pairs: []) }
            var pairs: [(name: String, value: String)] = []
            while true {
                let start = position
                guard let pair = parameter() else {
                    // This is not a parameter. Either the next challenge starts here, or the field is
                    // malformed. The loop in `challenges()` detects a malformed field.
                    position = start
                    break
                }
                guard pairs.count < AuthenticationChallenge.parameterLimit else { return nil }
                pairs.append(pair)
                skipSpaces()
                guard next == UInt8(ascii: ",") else {
                    guard next == nil else { return nil }
                    break
                }
                skipListSeparators()
            }
            guard !pairs.isEmpty else { return nil }
            return AuthenticationChallenge(scheme: scheme, token68: nil, pairs: pairs)
        }

        private mutating func parameter() -> (name: String, value: String)? {
            guard let name = token() else { return nil }
            skipSpaces()
            guard next == UInt8(ascii: "=") else { return nil }
            position += 1
            skipSpaces()
            guard let value = next == UInt8(ascii: "\"") ? quotedString() : token() else { return nil }
            return (name.lowercased(), value)
        }

        /// Parses a `token` (RFC 9110 §5.6.2); returns nil if no character of a `token` follows.
        private mutating func token() -> String? {
            let start = position
            while let byte = next, byte.isTokenCharacter { position += 1 }
            return position > start ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
        }

        /// Parses a `token68` (RFC 9110 §11.2); returns nil if the text is not a `token68`.
        ///
        /// A comma or the end of the field must follow the value. This rule distinguishes the `token68` value `a=`
        /// from the parameter `a=b`. The function also accepts characters that only a `token` can contain, such as `!`.
        private mutating func token68() -> String? {
            let start = position
            var end = position
            while end < bytes.count, bytes[end].isTokenCharacter || bytes[end] == UInt8(ascii: "/") { end += 1 }
            guard end > start else { return nil }
            while end < bytes.count, bytes[end] == UInt8(ascii: "=") { end += 1 }
            var rest = end
            while rest < bytes.count, bytes[rest] == 0x20 || bytes[rest] == 0x09 { rest += 1 }
            guard rest == bytes.count || bytes[rest] == UInt8(ascii: ",") else { return nil }
            position = end
            return String(decoding: bytes[start..<end], as: UTF8.self)
        }

        /// Parses a quoted string (RFC 9110 §5.6.4); returns nil if it is unterminated or not UTF-8.
        private mutating func quotedString() -> String? {
            position += 1
            var text: [UInt8] = []
            while let byte = next {
                position += 1
                switch byte {
                case UInt8(ascii: "\""): return String(validUTF8: text)
                case UInt8(ascii: "\\"):
                    guard let escaped = next else { return nil }
                    position += 1
                    text.append(escaped)
                default: text.append(byte)
                }
            }
            return nil
        }

        private mutating func skipListSeparators() {
            while let byte = next, byte == UInt8(ascii: ",") || byte == 0x20 || byte == 0x09 { position += 1 }
        }

        @discardableResult
        private mutating func skipSpaces() -> Int {
            let start = position
            while let byte = next, byte == 0x20 || byte == 0x09 { position += 1 }
            return position - start
        }
    }
}
