@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
import Crypto

/// The encoder and decoder of refresh tokens.
///
/// A token is 68 bytes in base64url: 32 random bytes that identify the family, 4 bytes with the generation
/// number, and the HMAC-SHA-256 of these 36 bytes.
///
/// The server can compute the successor of a token from the token and a key that is derived from the server key. A
/// retried refresh therefore gets the same successor, although the server stores no token (RFC 9700 §4.14.2).
///
/// To forge a token, an attacker would have to guess the 256 bits of the family and the 256 bits of the HMAC.
struct RefreshTokenCodec: Sendable {
    /// The random name of a token family, which all tokens of the family contain; a secret.
    struct Family: Sendable {
        fileprivate let name: [UInt8]

        fileprivate init(name: [UInt8]) { self.name = name }

        /// Creates a family with a random name.
        init(random: RandomBytes) { name = random.bytes(RefreshTokenCodec.nameSize) }

        /// The digest that identifies the family in the store.
        var digest: ArtefactDigest { ArtefactDigest(ofFamily: name) }
    }

    /// The content of a token whose HMAC is correct.
    struct Decoded: Sendable {
        let family: Family
        let generation: Int
        /// The place in the list of server keys of the one that made the token; 0 for the current one.
        let keyIndex: Int

        fileprivate init(family: Family, generation: Int, keyIndex: Int) {
            self.family = family
            self.generation = generation
            self.keyIndex = keyIndex
        }
    }

    private static let nameSize = 32
    private static let generationSize = 4
    private static let size = nameSize + generationSize + SHA256.byteCount

    /// The HMAC states after processing each key; each computation starts with a copy of one.
    ///
    /// The first key makes tokens. Those of the other ones are accepted, too.
    private let keyed: [HMAC<SHA256>]

    init(keys: DerivedKeys) { keyed = keys.all.map { HMAC(key: $0) } }

    /// Returns the token of a generation; nil if the generation does not fit into 32 bits.
    func token(of family: Family, generation: Int) -> RefreshToken? {
        guard let number = UInt32(exactly: generation), let keyed = keyed.first else { return nil }
        let body = family.name + withUnsafeBytes(of: number.bigEndian) { Array($0) }
        return RefreshToken(Base64URL.encode(body + Self.code(for: body, keyed)))
    }

    /// Decodes a token; nil if its HMAC is wrong.
    ///
    /// A decoded token can be expired, replaced or revoked. Only the store contains this information.
    func read(_ token: RefreshToken) -> Decoded? {
        guard token.exposed.utf8.count <= 4 * Self.size, let bytes = Base64URL.decode(token.exposed),
            bytes.count == Self.size
        else { return nil }
        let body = Array(bytes.prefix(Self.nameSize + Self.generationSize))
        let code = Array(bytes.dropFirst(body.count))
        guard let index = keyed.firstIndex(where: { ConstantTime.equals(code, Self.code(for: body, $0)) }) else {
            return nil
        }
        let generation = body.dropFirst(Self.nameSize).reduce(0) { $0 << 8 | Int($1) }
        return Decoded(
            family: Family(name: Array(body.prefix(Self.nameSize))), generation: generation, keyIndex: index)
    }

    private static func code(for body: [UInt8], _ keyed: HMAC<SHA256>) -> [UInt8] {
        var code = keyed
        code.update(data: body)
        return code.finalize().copiedBytes
    }
}
