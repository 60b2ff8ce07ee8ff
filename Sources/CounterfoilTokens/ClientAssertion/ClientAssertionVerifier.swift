public import CounterfoilProtocol
public import Foundation

/// Verifies the assertions with which clients authenticate, `private_key_jwt`.
///
/// RFC 7523 §3, OpenID Connect Core §9. That an assertion is used once is for its taker to see to, who remembers
/// ``VerifiedClientAssertion/tokenID``.
public struct ClientAssertionVerifier: Sendable {
    /// How far ahead an assertion may end, in seconds: for so long it must be remembered that it was used.
    ///
    /// RFC 7523 §3 lets a server refuse one that ends unreasonably far in the future. An hour is what clients that anybody
    /// uses write unless they are told otherwise, Authlib among them.
    public static let lifetimeLimit: TimeInterval = 3600
    /// The most bytes of a `jti`.
    public static let identifierByteLimit = 512

    private let audiences: [String]
    private let header: TokenHeader.Expectation
    private let typedHeader: TokenHeader.Expectation
    private let clockSkew: TimeInterval

    /// A verifier for a server that goes by these names: its issuer, and the endpoint at which clients authenticate.
    public init(
        audiences: Set<String>, algorithms: Set<SigningAlgorithm> = [.es256, .rs256, .edDSA],
        clockSkew: TimeInterval = 30
    ) {
        self.audiences = Array(audiences)
        self.clockSkew = clockSkew
        // RFC 8725 §3.1: never an algorithm that takes a public key for a shared secret.
        header = TokenHeader.Expectation(type: .idToken, mayBeUntyped: true, algorithms: algorithms)
        typedHeader = TokenHeader.Expectation(
            type: .clientAuthentication, mayBeUntyped: false, algorithms: algorithms)
    }

    /// The client that an assertion claims to be from, which nobody has verified: it only says whose keys to look at.
    public static func unverifiedSubject(of assertion: String) -> String? {
        guard assertion.utf8.count <= SignedToken.byteLimit else { return nil }
        let parts = assertion.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64URL.decode(String(parts[1])),
            let claims = try? JSONReader.object(bytes), case .string(let subject)? = claims["sub"]
        else { return nil }
        return subject
    }

    /// Verifies an assertion by the keys that are registered of a client.
    public func verify(
        _ assertion: String, of client: ClientIdentifier, keys: JSONWebKeySet, at now: Date
    ) throws(TokenRefusal) -> VerifiedClientAssertion {
        let claims = try authenticated(assertion, keys: keys)
        // RFC 7523 §3 points 1 and 2, OpenID Connect Core §9: issued by the client about itself.
        guard try claims.text("iss").hasSameBytes(as: client.rawValue),
            try claims.text("sub").hasSameBytes(as: client.rawValue)
        else { throw .wrongIssuer }
        // RFC 7523 §3 point 3: for this server, and for no other beside it, who could present it here.
        guard try claims.audience().allSatisfy({ audiences.contains(where: $0.hasSameBytes(as:)) }) else {
            throw .wrongAudience
        }
        // RFC 7523 §3 points 4 to 6.
        let expires = try claims.date("exp")
        guard now < expires.addingTimeInterval(clockSkew) else { throw .expired }
        guard expires <= now.addingTimeInterval(Self.lifetimeLimit + clockSkew) else {
            throw .lastsTooLong(limit: Int(Self.lifetimeLimit))
        }
        let begin = max(
            try claims.optionalDate("nbf") ?? .distantPast, try claims.optionalDate("iat") ?? .distantPast)
        guard begin <= now.addingTimeInterval(clockSkew) else { throw .notYetValid }
        // OpenID Connect Core §9: jti is required.
        let tokenID = try claims.text("jti")
        guard tokenID.utf8.count <= Self.identifierByteLimit else { throw .invalidClaim("jti") }
        return VerifiedClientAssertion(clientID: client, tokenID: tokenID, expires: expires)
    }

    /// Most clients send no type of their own; one that does says what it is.
    private func authenticated(_ assertion: String, keys: JSONWebKeySet) throws(TokenRefusal) -> AuthenticClaims {
        let signed = try SignedToken(parsing: assertion)
        do { return try signed.authenticate(with: keys, expecting: header) } catch {
            guard error == .wrongType else { throw error }
            return try signed.authenticate(with: keys, expecting: typedHeader)
        }
    }
}

/// An assertion that is genuine, for us, and valid at the time of the check.
///
/// Only ``ClientAssertionVerifier`` makes one.
public struct VerifiedClientAssertion: Sendable, Hashable {
    /// The client that made it.
    public let clientID: ClientIdentifier
    /// The name of this very assertion; wire name `jti`.
    public let tokenID: String
    /// The time from which on it is worth nothing; wire name `exp`.
    public let expires: Date

    init(clientID: ClientIdentifier, tokenID: String, expires: Date) {
        self.clientID = clientID
        self.tokenID = tokenID
        self.expires = expires
    }
}
