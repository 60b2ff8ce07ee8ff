import CounterfoilProtocol

/// A well-formed token of three parts whose signature is not verified yet.
///
/// RFC 7515 §7.1, compact serialization. The claims are available only through ``authenticate(with:expecting:)``.
struct SignedToken: Sendable {
    /// The maximum length of a token in bytes; a longer token is rejected before it is parsed.
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

    /// Verifies the header and the signature with the keys of the issuer, then parses the claims.
    func authenticate(
        with keys: JSONWebKeySet, expecting expectation: TokenHeader.Expectation
    ) throws(TokenRefusal) -> AuthenticClaims {
        let (type, algorithm) = try header.accept(expectation)
        // The key comes only from the given key set, never from the token (RFC 8725 §3.10). It is used only with
        // the algorithm of its type (RFC 8725 §3.1).
        let candidates = keys.keys(for: header.keyID, algorithm: algorithm)
        guard !candidates.isEmpty else { throw .unknownKey(header.keyID) }
        guard candidates.contains(where: { $0.material.isValidSignature(signature, for: signedPart) }) else {
            throw .badSignature
        }
        return try authenticClaims(type, algorithm)
    }

    /// Verifies the header and the signature with the key in the header, then parses the claims.
    ///
    /// The result proves only that the sender has this key, not who the sender is. It is for DPoP proofs only
    /// (RFC 9449 §4.3).
    func authenticateByOwnKey(
        expecting expectation: TokenHeader.Expectation
    ) throws(DPoPProofRefusal) -> (claims: AuthenticClaims, key: JSONWebKey) {
        let (type, algorithm) = try Self.proof { () throws(TokenRefusal) in try header.accept(expectation) }
        let key = try ownKey()
        guard key.algorithm == algorithm, key.material.isValidSignature(signature, for: signedPart) else {
            throw .token(.badSignature)
        }
        return (try Self.proof { () throws(TokenRefusal) in try authenticClaims(type, algorithm) }, key)
    }

    /// Runs a check that every token must pass; its refusal is one of the proof.
    private static func proof<Value>(_ check: () throws(TokenRefusal) -> Value) throws(DPoPProofRefusal) -> Value {
        do { return try check() } catch { throw .token(error) }
    }

    private func ownKey() throws(DPoPProofRefusal) -> JSONWebKey {
        guard case .object(let members)? = header.key else { throw .keyMissing }
        do { return try JSONWebKeyMembers(members).key() } catch { throw .unusableKey(error) }
    }

    private func authenticClaims(_ type: TokenType?, _ algorithm: SigningAlgorithm) throws(TokenRefusal)
        -> AuthenticClaims
    {
        guard let members = try? JSONReader.object(claims) else { throw .malformed(.claims) }
        return AuthenticClaims(members: members, type: type, algorithm: algorithm)
    }
}
