import Crypto
import CryptoExtras
import Foundation

/// A hash of scrypt (RFC 7914) in the form of PHC strings and of passlib: `$scrypt$ln=16,r=8,p=1$salt$hash`.
package struct ScryptHash: Sendable, Hashable {
    /// The maximum product of N, r and p: 256 MiB of memory with p = 1, or about a second.
    static let workLimit = 2 * 1024 * 1024

    let logarithm: Int
    let blockSize: Int
    let lanes: Int
    let salt: [UInt8]
    let digest: [UInt8]

    /// Parses the parts of an encoded hash between the characters `$`.
    init(_ parts: [Substring]) throws(HashForm.Refusal) {
        guard parts.count == 5, parts[0].isEmpty, let numbers = HashForm.numbers(["ln", "r", "p"], in: parts[2]),
            let salt = HashForm.base64(parts[3]), let digest = HashForm.base64(parts[4]),
            (1...64).contains(salt.count), (16...64).contains(digest.count), numbers.allSatisfy({ $0 >= 1 })
        else { throw .malformed("$scrypt$ln=…,r=…,p=…$salt$hash, in base64 without padding") }
        try Self.check(logarithm: numbers[0], blockSize: numbers[1], lanes: numbers[2])
        (logarithm, blockSize, lanes) = (numbers[0], numbers[1], numbers[2])
        (self.salt, self.digest) = (salt, digest)
    }

    /// Checks that the numbers are within the limit.
    static func check(logarithm: Int, blockSize: Int, lanes: Int) throws(HashForm.Refusal) {
        guard logarithm <= 21, blockSize <= workLimit >> logarithm, lanes <= (workLimit >> logarithm) / blockSize
        else { throw .limit("N times r times p is at most \(workLimit)") }
    }

    /// Returns the digest of a password with the same salt and cost; nil if it cannot be computed.
    func computed(of password: String) -> [UInt8]? {
        let key = try? KDF.Scrypt.deriveKey(
            from: Array(password.utf8), salt: salt, outputByteCount: digest.count, rounds: 1 << logarithm,
            blockSize: blockSize, parallelism: lanes)
        return key?.withUnsafeBytes { Array($0) }
    }
}
