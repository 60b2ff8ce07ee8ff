import CounterfoilProtocol
import Crypto

/// Makes refresh tokens and knows its own.
///
/// A token is 68 bytes in base64url: 32 random ones that name its line, four that count its generation, and the HMAC-SHA-256 of
/// both. So the successor of a token follows from it and from a key of the server alone: whoever presents a token a second time
/// can be given the same successor, and no token is kept anywhere (RFC 9700 §4.14.2). To guess one is to guess 256 bits, twice.
struct RefreshTokenAuthority: Sendable {
    /// The name of a line, which its tokens carry; a secret.
    struct Family: Sendable {
        fileprivate let name: [UInt8]

        fileprivate init(name: [UInt8]) { self.name = name }

        /// The name of a new line.
        init(random: RandomBytes) { name = random.bytes(RefreshTokenAuthority.nameSize) }

        /// Under what a store finds the line.
        var digest: ArtefactDigest { ArtefactDigest(ofFamily: name) }
    }

    /// A token that is one of ours.
    struct Genuine: Sendable {
        /// Its line.
        let family: Family
        /// Its place in the line.
        let generation: Int

        fileprivate init(family: Family, generation: Int) {
            self.family = family
            self.generation = generation
        }
    }

    private static let nameSize = 32
    private static let generationSize = 4
    private static let size = nameSize + generationSize + SHA256.byteCount

    /// What has taken the key in, so that each code begins from there.
    private let keyed: HMAC<SHA256>

    init(key: SymmetricKey) { keyed = HMAC(key: key) }

    /// The token of a generation; nil beyond the four billionth.
    func token(of family: Family, generation: Int) -> RefreshToken? {
        guard let number = UInt32(exactly: generation) else { return nil }
        let body = family.name + withUnsafeBytes(of: number.bigEndian) { Array($0) }
        return RefreshToken(Base64URL.encode(body + code(for: body)))
    }

    /// What a token says of itself, when it is one of ours; whether it still counts is the store's to say.
    func read(_ token: RefreshToken) -> Genuine? {
        guard token.exposed.utf8.count <= 4 * Self.size, let bytes = Base64URL.decode(token.exposed),
            bytes.count == Self.size
        else { return nil }
        let body = Array(bytes.prefix(Self.nameSize + Self.generationSize))
        guard ConstantTime.equals(Array(bytes.dropFirst(body.count)), code(for: body)) else { return nil }
        let generation = body.dropFirst(Self.nameSize).reduce(0) { $0 << 8 | Int($1) }
        return Genuine(family: Family(name: Array(body.prefix(Self.nameSize))), generation: generation)
    }

    private func code(for body: [UInt8]) -> [UInt8] {
        var code = keyed
        code.update(data: body)
        return code.finalize().copiedBytes
    }
}
