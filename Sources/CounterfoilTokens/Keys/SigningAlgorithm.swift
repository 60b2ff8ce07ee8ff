/// A supported signature algorithm (`alg`).
///
/// RFC 7515 §4.1.1, with the names of RFC 7518 §3.1, RFC 8037 §3.1 and RFC 9864 §2.2. No value exists for `none` or
/// for a symmetric algorithm, so that no allowlist can contain them (RFC 8725 §3.1).
public struct SigningAlgorithm: RawRepresentable, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// The value of `alg`.
    public let rawValue: String

    private init(known: String) { rawValue = known }

    /// Creates an algorithm from its case-sensitive name; returns nil if the name is not in ``allCases``.
    public init?(rawValue: String) {
        guard let known = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(rawValue.utf8) }) else {
            return nil
        }
        self = known
    }

    /// ECDSA on P-256 with SHA-256 (`ES256`).
    public static let es256 = SigningAlgorithm(known: "ES256")
    /// RSASSA-PKCS1-v1_5 with SHA-256 (`RS256`), which every OpenID provider must support
    /// (OpenID Connect Discovery §3).
    public static let rs256 = SigningAlgorithm(known: "RS256")
    /// EdDSA with Ed25519 by its fully specified name (`Ed25519`, RFC 9864 §2.2), which newer libraries send.
    public static let ed25519 = SigningAlgorithm(known: "Ed25519")
    /// EdDSA with Ed25519 by its older name (`EdDSA`), which RFC 9864 §4.1.2 deprecates.
    ///
    /// The signatures are those of ``ed25519``. A key of another party verifies both names.
    public static let edDSA = SigningAlgorithm(known: "EdDSA")

    /// All supported algorithms: ES256, RS256, Ed25519 and EdDSA.
    public static let allCases: [SigningAlgorithm] = [.es256, .rs256, .ed25519, .edDSA]

    /// The value of `alg`, such as `ES256`.
    public var description: String { rawValue }
}

extension SigningAlgorithm: Codable {}
