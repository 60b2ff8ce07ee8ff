import CounterfoilProtocol

/// The three parts of a token in the compact serialization, decoded but not verified.
///
/// RFC 7515 §7.1.
struct CompactToken: Sendable {
    /// The maximum length of a token in bytes; a longer token is rejected before it is parsed.
    static let byteLimit = 16384

    /// The header as it was sent, in base64url.
    let encodedHeader: ArraySlice<UInt8>
    /// The part of the token over which the signature is computed.
    let signedPart: ArraySlice<UInt8>
    let signature: [UInt8]
    private let decodedHeader: [UInt8]
    private let claims: [UInt8]

    init(parsing token: String) throws(TokenRefusal) {
        guard token.utf8.count <= Self.byteLimit else { throw .tooLarge }
        let bytes = Array(token.utf8)
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64URL.decode(utf8: parts[0]),
            let claims = Base64URL.decode(utf8: parts[1]), let signature = Base64URL.decode(utf8: parts[2])
        else { throw .malformed(.serialization) }
        encodedHeader = parts[0]
        decodedHeader = header
        self.claims = claims
        self.signature = signature
        signedPart = bytes[..<parts[1].endIndex]
    }

    /// Parses the header.
    func header() throws(TokenRefusal) -> TokenHeader { try TokenHeader(parsing: decodedHeader) }

    /// Parses the claims, after the header and the signature have been verified.
    func authenticClaims(_ type: TokenType?, _ algorithm: SigningAlgorithm) throws(TokenRefusal) -> AuthenticClaims {
        guard let members = try? JSONReader.object(claims) else { throw .malformed(.claims) }
        return AuthenticClaims(members: members, type: type, algorithm: algorithm)
    }
}

extension JSONReader {
    /// Returns the claims of a JWT, whose signature is not verified; nil if the text is no JWT (RFC 7519 §7.2).
    @_spi(Counterfoil) public static func unverifiedClaims(of token: String) -> [String: JSONValue]? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let claims = Base64URL.decode(parts[1]) else { return nil }
        return try? object(claims)
    }
}
