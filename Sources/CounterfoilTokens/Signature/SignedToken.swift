import CounterfoilProtocol

/// A well-formed token of three parts whose signature is not verified yet.
///
/// The claims are available only through ``authenticate(with:expecting:)``.
struct SignedToken: Sendable {
    private let header: TokenHeader
    private let parts: CompactToken

    init(parsing token: String) throws(TokenRefusal) {
        parts = try CompactToken(parsing: token)
        header = try parts.header()
    }

    /// Verifies the header and the signature with the keys of the issuer, then parses the claims.
    func authenticate(
        with keys: JSONWebKeySet, expecting expectation: TokenHeader.Expectation
    ) throws(TokenRefusal) -> AuthenticClaims {
        let (type, algorithm) = try header.accept(expectation)
        // The key comes only from the given key set, never from the token (RFC 8725 §3.10). It is used only with
        // the algorithm of its type (RFC 8725 §3.1).
        let candidates = keys.keys(for: header.keyID, algorithm: algorithm)
        guard !candidates.isEmpty else { throw .unknownKey(header.keyID) }
        guard candidates.contains(where: { $0.material.isValidSignature(parts.signature, for: parts.signedPart) })
        else {
            throw .badSignature
        }
        return try parts.authenticClaims(type, algorithm)
    }
}
