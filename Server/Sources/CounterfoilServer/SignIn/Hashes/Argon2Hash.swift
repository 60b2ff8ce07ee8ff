import CArgon2
import CounterfoilProtocol

/// A hash of Argon2 in the encoded form of RFC 9106: `$argon2id$v=19$m=19456,t=2,p=1$salt$hash`.
package struct Argon2Hash: Sendable, Hashable {
    /// The variant of Argon2.
    package enum Variant: String, Sendable, Hashable {
        case argon2d, argon2i, argon2id

        fileprivate var code: Argon2_type {
            switch self {
            case .argon2d: Argon2_d
            case .argon2i: Argon2_i
            case .argon2id: Argon2_id
            }
        }
    }

    /// The values on which the cost of a hash depends.
    package struct Cost: Sendable, Hashable {
        let variant: Variant
        let version: Int
        let memoryKiB: Int
        let passes: Int
        let lanes: Int

        /// The cost of the hashes that the server makes (RFC 9106 §4).
        static let own = Cost(variant: .argon2id, version: 19, memoryKiB: 19 * 1024, passes: 2, lanes: 1)

        package init(variant: Variant, version: Int, memoryKiB: Int, passes: Int, lanes: Int) {
            self.variant = variant
            self.version = version
            self.memoryKiB = memoryKiB
            self.passes = passes
            self.lanes = lanes
        }
    }

    /// The maximum memory in KiB.
    static let memoryLimit = 256 * 1024
    /// The maximum product of memory in KiB and passes, which takes about a second.
    static let workLimit = 1024 * 1024
    /// The maximum number of lanes.
    static let laneLimit = 64

    let cost: Cost
    let salt: [UInt8]
    let digest: [UInt8]

    /// Creates a hash from its parts.
    init(cost: Cost, salt: [UInt8], digest: [UInt8]) {
        (self.cost, self.salt, self.digest) = (cost, salt, digest)
    }

    /// Creates a hash of a password.
    init(of password: String, cost: Cost, salt: [UInt8], length: Int) throws(PasswordHasher.Failure) {
        self.cost = cost
        self.salt = salt
        digest = try Self.compute(password, cost, salt, length)
    }

    /// Parses the parts of an encoded hash between the characters `$`.
    init(_ parts: [Substring]) throws(HashForm.Refusal) {
        let form = HashForm.Refusal.malformed("$argon2id$v=19$m=…,t=…,p=…$salt$hash, in base64 without padding")
        // Version 16 is older than the member `v`.
        let hasVersion = parts.count == 6
        guard hasVersion || parts.count == 5, parts[0].isEmpty, let variant = Variant(rawValue: String(parts[1])),
            let version = hasVersion ? HashForm.numbers(["v"], in: parts[2])?.first : 16, [16, 19].contains(version),
            let numbers = HashForm.numbers(["m", "t", "p"], in: parts[parts.count - 3]),
            let salt = HashForm.base64(parts[parts.count - 2]), let digest = HashForm.base64(parts[parts.count - 1]),
            // The limits of libargon2.
            (8...64).contains(salt.count), (4...64).contains(digest.count), numbers[1] >= 1, numbers[2] >= 1,
            numbers[0] >= 8 * numbers[2]
        else { throw form }
        guard numbers[0] <= Self.memoryLimit, numbers[1] <= Self.workLimit / numbers[0] else {
            throw .limit("m is at most \(Self.memoryLimit) KiB, and m times t at most \(Self.workLimit)")
        }
        guard numbers[2] <= Self.laneLimit else { throw .limit("p is at most \(Self.laneLimit)") }
        cost = Cost(
            variant: variant, version: version, memoryKiB: numbers[0], passes: numbers[1], lanes: numbers[2])
        (self.salt, self.digest) = (salt, digest)
    }

    /// The encoded form.
    var encoded: String {
        func base64(_ bytes: [UInt8]) -> String {
            Base64URL.encode(bytes).replacing("-", with: "+").replacing("_", with: "/")
        }
        return "$\(cost.variant.rawValue)$v=\(cost.version)$m=\(cost.memoryKiB),t=\(cost.passes),p=\(cost.lanes)"
            + "$\(base64(salt))$\(base64(digest))"
    }

    /// Returns the digest of a password with the same salt and cost; nil if libargon2 fails.
    func computed(of password: String) -> [UInt8]? {
        try? Self.compute(password, cost, salt, digest.count)
    }

    private static func compute(
        _ password: String, _ cost: Cost, _ salt: [UInt8], _ length: Int
    ) throws(PasswordHasher.Failure) -> [UInt8] {
        var (password, salt) = (Array(password.utf8), salt)
        var digest = [UInt8](repeating: 0, count: length)
        let code = password.withUnsafeMutableBufferPointer { password in
            salt.withUnsafeMutableBufferPointer { salt in
                digest.withUnsafeMutableBufferPointer { digest in
                    var context = argon2_context()
                    (context.out, context.outlen) = (digest.baseAddress, UInt32(digest.count))
                    (context.pwd, context.pwdlen) = (password.baseAddress, UInt32(password.count))
                    (context.salt, context.saltlen) = (salt.baseAddress, UInt32(salt.count))
                    (context.t_cost, context.m_cost) = (UInt32(cost.passes), UInt32(cost.memoryKiB))
                    // One thread computes all lanes, so that a hash takes one core.
                    (context.lanes, context.threads) = (UInt32(cost.lanes), 1)
                    context.version = UInt32(cost.version)
                    return argon2_ctx(&context, cost.variant.code)
                }
            }
        }
        guard code == ARGON2_OK.rawValue else { throw PasswordHasher.Failure(code: code) }
        return digest
    }
}
