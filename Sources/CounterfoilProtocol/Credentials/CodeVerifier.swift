import Crypto

/// The half of the ticket that the application keeps: proof that it began the authorization.
///
/// Wire name `code_verifier`, RFC 7636 §4.1: 43 to 128 unreserved characters.
public struct CodeVerifier: Secret {
    /// The verifier as it stands on the wire.
    public let exposed: String

    /// A verifier as it came from the wire, or nil when it is not 43 to 128 unreserved characters.
    public init?(_ text: String) {
        guard (43...128).contains(text.utf8.count), text.utf8.allSatisfy(\.isUnreserved) else { return nil }
        exposed = text
    }

    /// A verifier as an application presents it to a server, or nil.
    ///
    /// As ``init(_:)``, and besides the characters of plain base64: `+`, `/` and one or two `=` at the end. Clients that are
    /// in wide use make their verifier so, and it weakens nothing, because the hash covers every character.
    public init?(presented text: String) {
        let padding = text.utf8.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        let isAllowed = { (byte: UInt8) in byte.isUnreserved || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/") }
        guard (43...128).contains(text.utf8.count), padding <= 2, text.utf8.dropLast(padding).allSatisfy(isAllowed)
        else {
            return nil
        }
        exposed = text
    }

    /// A verifier of 32 random bytes in 43 characters (RFC 7636 §4.1, recommended).
    public init(random: RandomBytes = RandomBytes()) {
        exposed = Base64URL.encode(random.bytes(32))
    }
}

/// The half of the ticket that the server keeps: the SHA-256 of the verifier.
///
/// Wire name `code_challenge` with `code_challenge_method=S256`, RFC 7636 §4.2. The only method that this product makes.
public struct CodeChallenge: Sendable, Hashable, CustomStringConvertible {
    /// `code_challenge_method` as it stands on the wire.
    public static let method = "S256"

    /// The challenge as it stands on the wire: 43 characters of base64url.
    public let rawValue: String

    /// A challenge as it came from the wire, or nil when it is not the base64url of 32 bytes.
    public init?(_ rawValue: String) {
        guard rawValue.utf8.count == 43, Base64URL.decode(rawValue)?.count == 32 else { return nil }
        self.rawValue = rawValue
    }

    /// The challenge of a verifier: `BASE64URL(SHA256(ASCII(code_verifier)))` (RFC 7636 §4.2).
    public init(of verifier: CodeVerifier) {
        rawValue = Base64URL.encode(SHA256.hash(data: Array(verifier.exposed.utf8)).copiedBytes)
    }

    /// Whether a verifier belongs to this challenge; compared in constant time (RFC 7636 §4.6).
    public func matches(_ verifier: CodeVerifier) -> Bool {
        ConstantTime.equals(rawValue, CodeChallenge(of: verifier).rawValue)
    }

    /// The challenge as it stands on the wire.
    public var description: String { rawValue }
}

/// A challenge as an authorization request brings it.
///
/// Wire names `code_challenge` and `code_challenge_method`, RFC 7636 §4.3.
public enum PresentedChallenge: Sendable, Hashable {
    /// Of the method S256.
    case s256(CodeChallenge)
    /// Of the method `plain`, which the request names or, without any method, means.
    ///
    /// Such a challenge is the verifier itself, so it is not kept: its S256 challenge stands in its place.
    case plain(CodeChallenge, isNamed: Bool)

    /// `code_challenge_method` of a challenge that is the verifier itself, as it stands on the wire.
    static let plainMethod = "plain"

    /// The challenge of the method S256 that the verifier must match.
    public var challenge: CodeChallenge {
        switch self {
        case .s256(let challenge), .plain(let challenge, _): challenge
        }
    }
}
