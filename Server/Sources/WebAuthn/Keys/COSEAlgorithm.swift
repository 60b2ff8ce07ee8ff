/// An algorithm of signatures (`COSEAlgorithmIdentifier`, WebAuthn §5.8.5), by its number in the registry of COSE.
package struct COSEAlgorithm: RawRepresentable, Sendable, Hashable {
    /// The registered number.
    package let rawValue: Int64

    /// Creates an algorithm by its registered number.
    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// ECDSA with P-256 and SHA-256.
    package static let es256 = COSEAlgorithm(rawValue: -7)
    /// Ed25519.
    package static let edDSA = COSEAlgorithm(rawValue: -8)
    /// ECDSA with P-384 and SHA-384.
    package static let es384 = COSEAlgorithm(rawValue: -35)
    /// ECDSA with P-521 and SHA-512.
    package static let es512 = COSEAlgorithm(rawValue: -36)
    /// RSASSA-PKCS1-v1_5 with SHA-256, which Windows Hello uses on older computers.
    package static let rs256 = COSEAlgorithm(rawValue: -257)

    /// The algorithms that a relying party offers, the preferred one first (WebAuthn §5.4, `pubKeyCredParams`).
    package static let offered: [COSEAlgorithm] = [.es256, .edDSA, .es384, .rs256]
}
