public import CounterfoilPlatform
public import CounterfoilProtocol
public import Crypto

/// A verifier of DPoP proofs, with which clients prove possession of a key.
///
/// RFC 9449 §4.3. The verifier does not detect replay: the caller notes each accepted proof in a
/// ``ProofReplayMemory``, after it has checked everything else in the request.
@_spi(Counterfoil) public struct DPoPProofVerifier: Sendable {
    /// The maximum difference between `iat` and the current time, in seconds, in either direction.
    public static let window: TimeInterval = 300
    /// The maximum length of `jti` in bytes.
    public static let proofIDByteLimit = 256

    /// The accepted algorithms, in the order in which metadata and challenges list them.
    public static let algorithms = SigningAlgorithm.allCases

    private let keys = RecentProofKeys()
    private let nonces: ProofNonces?
    private let requiresNonce: Bool

    /// Creates a verifier.
    ///
    /// - Parameters:
    ///   - nonces: The nonces of this server; a nonce in a proof must be one of them. Nil if the server sends no
    ///     nonces; the claim `nonce` is then ignored.
    ///   - requiresNonce: Whether a proof without a nonce is rejected.
    public init(nonces: ProofNonces?, requiresNonce: Bool) {
        self.nonces = nonces
        self.requiresNonce = requiresNonce
    }

    /// Verifies the proof in the `DPoP` fields of a request; returns nil if there is no such field.
    ///
    /// - Parameters:
    ///   - fields: The values of all `DPoP` fields.
    ///   - method: The method of the request.
    ///   - uris: The URLs by which clients can have sent the request.
    ///   - token: The access token in the request; nil at an endpoint that takes none.
    ///   - now: The current time of the wall clock.
    ///   - nonceTime: The current time of the clock by which the nonces were made; nil if it is the wall clock.
    public func verify(
        _ fields: [String], method: String, uris: [ProofURI], presenting token: AccessToken? = nil, at now: Date,
        nonceTime: Date? = nil
    ) throws(DPoPProofRefusal) -> VerifiedDPoPProof? {
        guard let text = fields.first else { return nil }
        guard fields.count == 1 else { throw .severalProofs }
        let (claims, thumbprint) = try authenticated(text)
        guard claims.proofID.utf8.count <= Self.proofIDByteLimit else { throw .longProofID }
        guard claims.method.hasSameBytes(as: method) else { throw .wrongMethod }
        guard uris.contains(url: claims.uri) else { throw .wrongURI }
        guard abs(claims.issuedAt.timeIntervalSince(now)) <= Self.window else { throw .notCurrent }
        try checkNonce(claims.nonce, at: nonceTime ?? now)
        if let token {
            guard let hash = claims.accessTokenHash, ConstantTime.equals(hash, DPoPProofClaims.hash(of: token)) else {
                throw .wrongAccessTokenHash
            }
        }
        return VerifiedDPoPProof(
            thumbprint: thumbprint, containsNonce: nonces != nil && claims.nonce != nil, proofID: claims.proofID,
            expires: claims.issuedAt.addingTimeInterval(Self.window))
    }

    /// Verifies the header and the signature of a proof, and reads its claims.
    private func authenticated(_ text: String) throws(DPoPProofRefusal) -> (DPoPProofClaims, KeyThumbprint) {
        let proof = try Self.checked { () throws(TokenRefusal) in try CompactToken(parsing: text) }
        if let key = keys.key(for: proof.encodedHeader) {
            return (try Self.checked { () throws(TokenRefusal) in try key.claims(of: proof) }, key.thumbprint)
        }
        let key = try ProofKey(Self.checked { () throws(TokenRefusal) in try proof.header() })
        let claims = try Self.checked { () throws(TokenRefusal) in try key.claims(of: proof) }
        keys.remember(key, for: proof.encodedHeader)
        return (claims, key.thumbprint)
    }

    /// Runs a check that every token must pass; its refusal is one of the proof.
    private static func checked<Value>(_ check: () throws(TokenRefusal) -> Value) throws(DPoPProofRefusal) -> Value {
        do { return try check() } catch { throw .token(error) }
    }

    /// RFC 9449 §4.3 check 10: a nonce that is sent must be good, even if none is required.
    private func checkNonce(_ nonce: String?, at now: Date) throws(DPoPProofRefusal) {
        guard let nonces else { return }
        guard let nonce else {
            if requiresNonce { throw .nonceRequired }
            return
        }
        guard nonces.accept(nonce, at: now) else { throw .nonceInvalid }
    }
}

/// A DPoP proof that is valid for one request.
///
/// Only ``DPoPProofVerifier`` creates values of this type. The same proof may have been used before.
@_spi(Counterfoil) public struct VerifiedDPoPProof: Sendable, Hashable {
    /// The thumbprint of the key of which the client has proved possession.
    public let thumbprint: KeyThumbprint
    /// Whether the proof contains a nonce of this server.
    public let containsNonce: Bool
    /// The digest of the key and the `jti`, by which a second use of the proof is detected.
    public let digest: SHA256Digest
    /// The time after which the proof is rejected for its age.
    public let expires: Date

    init(thumbprint: KeyThumbprint, containsNonce: Bool, proofID: String, expires: Date) {
        self.thumbprint = thumbprint
        self.containsNonce = containsNonce
        self.expires = expires
        // `jti` is unique only among the proofs of one key: two clients may count from 1. The length of the thumbprint
        // is fixed, so that no two pairs have the same text.
        digest = SHA256.hash(data: Array((thumbprint.rawValue + proofID).utf8))
    }
}
