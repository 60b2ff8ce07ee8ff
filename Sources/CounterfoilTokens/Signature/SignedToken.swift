import CounterfoilProtocol

/// A token whose three parts are well formed and whose signature nobody has verified yet.
///
/// RFC 7515 §7.1, compact serialisation. The claims come out only through ``authenticate(with:expecting:)``.
struct SignedToken: Sendable {
    /// The most bytes of a token.
    static let byteLimit = 16384

    private let header: TokenHeader
    private let signedPart: ArraySlice<UInt8>
    private let claims: [UInt8]
    private let signature: [UInt8]

    init(parsing token: String) throws(TokenRefusal) {
        guard token.utf8.count <= Self.byteLimit else { throw .tooLarge }
        let bytes = Array(token.utf8)
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64URL.decode(utf8: parts[0]),
            let claims = Base64URL.decode(utf8: parts[1]), let signature = Base64URL.decode(utf8: parts[2])
        else { throw .malformed(.serialization) }
        self.header = try TokenHeader(parsing: header)
        self.claims = claims
        self.signature = signature
        signedPart = bytes[..<parts[1].endIndex]
    }

    /// Verifies header and signature with the keys of the issuer, and only then reads the claims.
    func authenticate(
        with keys: JSONWebKeySet, expecting expectation: TokenHeader.Expectation
    ) throws(TokenRefusal) -> AuthenticClaims {
        let algorithm = try header.accept(expectation)
        // The key comes from the given set alone (RFC 8725 §3.10), and serves the stated algorithm alone (§3.1).
        let candidates = keys.keys(for: header.keyID, algorithm: algorithm)
        guard !candidates.isEmpty else { throw .unknownKey(header.keyID) }
        guard candidates.contains(where: { $0.material.isValidSignature(signature, for: signedPart) }) else {
            throw .badSignature
        }
        guard let members = try? JSONReader.object(claims) else { throw .malformed(.claims) }
        return AuthenticClaims(members: members, algorithm: algorithm)
    }
}
