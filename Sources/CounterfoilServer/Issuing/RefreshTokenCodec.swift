import CounterfoilProtocol
import Crypto

/// The encoder and decoder of refresh tokens.
///
/// A token is 68 bytes in base64url: 32 random bytes that name its family, 4 that count its generation, and
/// the HMAC-SHA-256 of both. The successor of a token follows from the token and a key of the server alone. A
/// retried refresh can therefore get the same successor, and no token is stored (RFC 9700 §4.14.2). An
/// attacker would have to guess 256 bits twice.
struct RefreshTokenCodec: Sendable {
    /// The name of a token family, which its tokens carry; a secret.
    struct Family: Sendable {
        fileprivate let name: [UInt8]

        fileprivate init(name: [UInt8]) { self.name = name }

        /// Creates a family with a random name.
        init(random: RandomBytes) { name = random.bytes(RefreshTokenCodec.nameSize) }

        /// The digest under which a store keeps the family.
        var digest: ArtefactDigest { ArtefactDigest(ofFamily: name) }
    }

    /// The content of an authentic token.
    struct Decoded: Sendable {
        let family: Family
        let generation: Int

        fileprivate init(family: Family, generation: Int) {
            self.family = family
            self.generation = generation
        }
    }

    private static let nameSize = 32
    private static let generationSize = 4
    private static let size = nameSize + generationSize + SHA256.byteCount

    /// The HMAC after it has absorbed the key, from which every code starts.
    private let keyed: HMAC<SHA256>

    init(key: SymmetricKey) { keyed = HMAC(key: key) }

    /// Returns the token of a generation; nil above the largest 32-bit number.
    func token(of family: Family, generation: Int) -> RefreshToken? {
        guard let number = UInt32(exactly: generation) else { return nil }
        let body = family.name + withUnsafeBytes(of: number.bigEndian) { Array($0) }
        return RefreshToken(Base64URL.encode(body + code(for: body)))
    }

    /// Decodes a token; nil unless its HMAC is correct.
    ///
    /// Only the store knows whether the token is still valid.
    func read(_ token: RefreshToken) -> Decoded? {
        guard token.exposed.utf8.count <= 4 * Self.size, let bytes = Base64URL.decode(token.exposed),
            bytes.count == Self.size
        else { return nil }
        let body = Array(bytes.prefix(Self.nameSize + Self.generationSize))
        guard ConstantTime.equals(Array(bytes.dropFirst(body.count)), code(for: body)) else { return nil }
        let generation = body.dropFirst(Self.nameSize).reduce(0) { $0 << 8 | Int($1) }
        return Decoded(family: Family(name: Array(body.prefix(Self.nameSize))), generation: generation)
    }

    private func code(for body: [UInt8]) -> [UInt8] {
        var code = keyed
        code.update(data: body)
        return code.finalize().copiedBytes
    }
}
