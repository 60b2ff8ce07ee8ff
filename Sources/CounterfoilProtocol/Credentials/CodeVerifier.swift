import Crypto

/// The secret with which a client proves that it started the authorization.
///
/// The parameter `code_verifier`, RFC 7636 §4.1: 43 to 128 unreserved characters.
public struct CodeVerifier: Secret {
    /// The verifier in plain text, as it is sent.
    public let exposed: String

    /// Creates a verifier from a received value; nil if it is not 43 to 128 unreserved characters.
    public init?(_ text: String) {
        guard (43...128).contains(text.utf8.count), text.utf8.allSatisfy(\.isUnreserved) else { return nil }
        exposed = text
    }

    /// Creates a verifier from a value that a client presents to a server; nil if it is invalid.
    ///
    /// Unlike ``init(_:)``, this initializer also accepts the characters of plain base64: `+`, `/` and one or
    /// two trailing `=`. RFC 7636 does not allow them, but widely used clients generate such verifiers. PKCE remains
    /// equally secure, because the hash covers every character.
    public init?(presented text: String) {
        let padding = text.utf8.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        let isAllowed = { (byte: UInt8) in byte.isUnreserved || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/") }
        guard (43...128).contains(text.utf8.count), padding <= 2, text.utf8.dropLast(padding).allSatisfy(isAllowed)
        else {
            return nil
        }
        exposed = text
    }

    /// Generates a verifier of 32 random bytes, in 43 characters (recommended by RFC 7636 §4.1).
    public init(random: RandomBytes = RandomBytes()) {
        exposed = Base64URL.encode(random.bytes(32))
    }
}

/// The SHA-256 digest of a code verifier, which the server stores.
///
/// The parameter `code_challenge` with `code_challenge_method=S256`, RFC 7636 §4.2. The client of this package
/// uses no other method.
public struct CodeChallenge: Sendable, Hashable, CustomStringConvertible {
    /// The value of `code_challenge_method`.
    public static let method = "S256"

    /// The challenge, as it is sent: 43 characters of base64url.
    public let rawValue: String

    /// Creates a challenge from a received value; nil if it is not the base64url encoding of 32 bytes.
    public init?(_ rawValue: String) {
        guard rawValue.utf8.count == 43, Base64URL.decode(rawValue)?.count == 32 else { return nil }
        self.rawValue = rawValue
    }

    /// Computes the challenge of a verifier: `BASE64URL(SHA256(ASCII(code_verifier)))` (RFC 7636 §4.2).
    public init(of verifier: CodeVerifier) {
        rawValue = Base64URL.encode(SHA256.hash(data: Array(verifier.exposed.utf8)).copiedBytes)
    }

    /// Returns true if a verifier matches this challenge, compared in constant time (RFC 7636 §4.6).
    public func matches(_ verifier: CodeVerifier) -> Bool {
        ConstantTime.equals(rawValue, CodeChallenge(of: verifier).rawValue)
    }

    /// The challenge as it is sent; equal to ``rawValue``.
    public var description: String { rawValue }
}

/// The challenge of an authorization request, with its method.
///
/// The parameters `code_challenge` and `code_challenge_method`, RFC 7636 §4.3.
public enum PresentedChallenge: Sendable, Hashable {
    /// A challenge with `code_challenge_method=S256`.
    case s256(CodeChallenge)
    /// A challenge of the method `plain`; `isNamed` is false if the request omits the method.
    ///
    /// A plain challenge is the verifier itself, so it is not stored. The associated value is the S256
    /// challenge of that verifier.
    case plain(CodeChallenge, isNamed: Bool)

    /// The value of `code_challenge_method` for a challenge that is the verifier itself (RFC 7636 §4.3).
    static let plainMethod = "plain"

    /// The S256 challenge that the verifier must match.
    public var challenge: CodeChallenge {
        switch self {
        case .s256(let challenge), .plain(let challenge, _): challenge
        }
    }
}
