import Crypto
import CryptoExtras
import Foundation

/// A hash of PBKDF2 (RFC 8018 §5.2) in the form of passlib, `$pbkdf2-sha256$29000$salt$hash`, or of Django,
/// `pbkdf2_sha256$870000$salt$hash`.
package struct PBKDF2Hash: Sendable, Hashable {
    /// The hash function of the HMAC.
    package enum Function: String, Sendable, Hashable {
        case sha1 = "pbkdf2"
        case sha256 = "pbkdf2-sha256"
        case sha512 = "pbkdf2-sha512"

        /// The length of the digest.
        var length: Int {
            switch self {
            case .sha1: 20
            case .sha256: 32
            case .sha512: 64
            }
        }

        fileprivate var function: KDF.Insecure.PBKDF2.HashFunction {
            switch self {
            case .sha1: .insecureSHA1
            case .sha256: .sha256
            case .sha512: .sha512
            }
        }
    }

    /// The maximum number of rounds, which take about a second.
    static let roundLimit = 2_000_000

    let function: Function
    let rounds: Int
    let salt: [UInt8]
    let digest: [UInt8]

    /// Parses the parts of a hash of passlib between the characters `$`.
    init(_ parts: [Substring]) throws(HashForm.Refusal) {
        guard parts.count == 5, parts[0].isEmpty, let function = Function(rawValue: String(parts[1])),
            let salt = HashForm.base64(parts[3], plus: "."), let digest = HashForm.base64(parts[4], plus: ".")
        else { throw .malformed("$\(parts[1])$rounds$salt$hash of passlib") }
        let form = "$\(function.rawValue)$rounds$salt$hash of passlib"
        try self.init(function, rounds: parts[2], salt, digest, form: form)
    }

    /// Parses the parts of a hash of Django between the characters `$`, whose salt is a text.
    init(django parts: [Substring]) throws(HashForm.Refusal) {
        let form = "pbkdf2_sha256$rounds$salt$hash of Django"
        // 32 bytes are 43 characters and one of padding.
        guard parts.count == 4, parts[3].last == "=", let digest = HashForm.base64(parts[3].dropLast()) else {
            throw .malformed(form)
        }
        try self.init(.sha256, rounds: parts[1], Array(parts[2].utf8), digest, form: form)
    }

    private init(
        _ function: Function, rounds: Substring, _ salt: [UInt8], _ digest: [UInt8], form: String
    ) throws(HashForm.Refusal) {
        guard let rounds = HashForm.number(rounds), rounds >= 1, (1...128).contains(salt.count),
            digest.count == function.length
        else { throw .malformed(form) }
        guard rounds <= Self.roundLimit else { throw .limit("PBKDF2 has at most \(Self.roundLimit) rounds") }
        (self.function, self.rounds, self.salt, self.digest) = (function, rounds, salt, digest)
    }

    /// Returns the digest of a password with the same salt and cost; nil if it cannot be computed.
    func computed(of password: String) -> [UInt8]? {
        let key = try? KDF.Insecure.PBKDF2.deriveKey(
            from: Array(password.utf8), salt: salt, using: function.function, outputByteCount: digest.count,
            unsafeUncheckedRounds: rounds)
        return key?.withUnsafeBytes { Array($0) }
    }
}
