/// An algorithm that signs and verifies tokens here.
///
/// Wire name `alg`, RFC 7515 §4.1.1 with the names of RFC 7518 §3.1 and RFC 8037 §3.1. A value exists only for an algorithm
/// that is implemented: `none` and the symmetric ones have none, so that no list of allowed algorithms can hold them
/// (RFC 8725 §3.1).
public struct SigningAlgorithm: RawRepresentable, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// The name as it stands on the wire.
    public let rawValue: String

    private init(known: String) { rawValue = known }

    /// The algorithm of a wire name, or nil when it is not one of ``allCases``; names are case-sensitive.
    public init?(rawValue: String) {
        guard let known = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(rawValue.utf8) }) else {
            return nil
        }
        self = known
    }

    /// ECDSA on P-256 with SHA-256.
    public static let es256 = SigningAlgorithm(known: "ES256")
    /// RSASSA-PKCS1-v1_5 with SHA-256, which every OpenID provider must offer (OpenID Connect Discovery §3).
    public static let rs256 = SigningAlgorithm(known: "RS256")
    /// Ed25519.
    public static let edDSA = SigningAlgorithm(known: "EdDSA")

    /// Every algorithm that is implemented.
    public static let allCases: [SigningAlgorithm] = [.es256, .rs256, .edDSA]

    /// The name as it stands on the wire.
    public var description: String { rawValue }
}

extension SigningAlgorithm: Codable {}
