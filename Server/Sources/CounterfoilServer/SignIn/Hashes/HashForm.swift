@_spi(Counterfoil) import CounterfoilProtocol
package import CounterfoilStore

/// A password hash in one of the forms that the server verifies, with parameters within the limits.
///
/// The form of an imported hash is another one than that of ``PasswordHasher/hash(_:)``, until the first sign-in
/// replaces the hash.
package enum HashForm: Sendable, Hashable {
    case argon2(Argon2Hash)
    case scrypt(ScryptHash)
    case pbkdf2(PBKDF2Hash)
    case crypt(CryptHash)

    /// The reason why a hash is refused, which contains nothing of it.
    package enum Refusal: Error, Sendable, Hashable, CustomStringConvertible {
        /// The text begins with no known prefix.
        case unknown
        /// The text does not have the form of its prefix.
        case malformed(String)
        /// The parameters are beyond a limit.
        case limit(String)
        /// The function of the C library that computes the hash is missing.
        case notSupported(String)

        /// The reason and the remedy.
        package var description: String {
            switch self {
            case .unknown:
                "It must be a hash of Argon2, bcrypt, scrypt, PBKDF2, yescrypt, sha512crypt or sha256crypt. Leave it "
                    + "out, and have the user set a new password."
            case .malformed(let form): "It does not have the form \(form)."
            case .limit(let limit):
                "It is too expensive to verify: \(limit). Leave it out, and have the user set a new password."
            case .notSupported(let name):
                "\(name) needs libxcrypt, which is not installed or lacks it. Install the package libcrypt1 (Debian) or "
                    + "libxcrypt (Fedora) on the machine of the server, or leave the hash out."
            }
        }
    }

    /// The maximum length of a hash in bytes, which libxcrypt has, too.
    private static let lengthLimit = 383

    /// Parses a hash strictly: the same hash has no other spelling that is accepted.
    package init(_ hash: PasswordHash) throws(Refusal) {
        let text = hash.exposed
        guard text.utf8.count <= Self.lengthLimit, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .malformed("of at most \(Self.lengthLimit) visible ASCII characters")
        }
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        switch parts.first == "" && parts.count > 2 ? parts[1] : parts[0] {
        case "argon2id", "argon2i", "argon2d": self = .argon2(try Argon2Hash(parts))
        case "scrypt" where parts[0].isEmpty: self = .scrypt(try ScryptHash(parts))
        case "pbkdf2", "pbkdf2-sha256", "pbkdf2-sha512": self = .pbkdf2(try PBKDF2Hash(parts))
        case "pbkdf2_sha256": self = .pbkdf2(try PBKDF2Hash(django: parts))
        case "2a", "2b", "2y", "5", "6", "7", "y", "gy": self = .crypt(try CryptHash(text, parts))
        default: throw .unknown
        }
    }

    /// Returns true if a password has the hash; nil if the hash cannot be computed.
    func matches(_ password: String) -> Bool? {
        switch self {
        case .argon2(let hash): hash.computed(of: password).map { ConstantTime.equals($0, hash.digest) }
        case .scrypt(let hash): hash.computed(of: password).map { ConstantTime.equals($0, hash.digest) }
        case .pbkdf2(let hash): hash.computed(of: password).map { ConstantTime.equals($0, hash.digest) }
        case .crypt(let hash): hash.computed(of: password).map { ConstantTime.equals($0, hash.text) }
        }
    }

    /// Parses a decimal number without a sign and leading zeros; nil for another text.
    static func number(_ text: some StringProtocol) -> Int? {
        guard (1...10).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            text == "0" || text.first != "0"
        else { return nil }
        return Int(text)
    }

    /// Parses `name=number` pairs that are separated by commas, in the order of the names; nil for another text.
    static func numbers(_ names: [String], in text: some StringProtocol) -> [Int]? {
        let pairs = text.split(separator: ",", omittingEmptySubsequences: false)
        guard pairs.count == names.count else { return nil }
        let numbers = zip(names, pairs).compactMap { name, pair in
            pair.hasPrefix(name + "=") ? number(pair.dropFirst(name.utf8.count + 1)) : nil
        }
        return numbers.count == names.count ? numbers : nil
    }

    /// Decodes base64 without padding, and with `+` or another character for the value 62; nil for another text.
    static func base64(_ text: some StringProtocol, plus: Character = "+") -> [UInt8]? {
        guard text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == plus || $0 == "/") }) else {
            return nil
        }
        let mapped = text.map { $0 == plus ? "-" : $0 == "/" ? "_" : $0 }
        return Base64URL.decode(String(mapped))
    }
}
