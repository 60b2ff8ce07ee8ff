/// A supported signature algorithm (`alg`).
///
/// RFC 7515 §4.1.1, with the names of RFC 7518 §3.1 and RFC 8037 §3.1. No value exists for `none` or for a
/// symmetric algorithm, so that no allowlist can contain them (RFC 8725 §3.1).
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
    /// EdDSA with Ed25519 (`EdDSA`).
    public static let edDSA = SigningAlgorithm(known: "EdDSA")

    /// All supported algorithms: ES256, RS256 and EdDSA.
    public static let allCases: [SigningAlgorithm] = [.es256, .rs256, .edDSA]

    /// The value of `alg`, such as `ES256`.
    public var description: String { rawValue }
}

extension SigningAlgorithm: Codable {}
