package import CounterfoilProtocol
import Crypto

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// A verifier of DPoP proofs, with which clients prove possession of a key.
///
/// RFC 9449 §4.3. The verifier does not detect replay: the caller notes each accepted proof in a
/// ``ProofReplayMemory``, after it has checked everything else.
package struct DPoPProofVerifier: Sendable {
    /// The maximum difference between `iat` and the current time, in seconds, in either direction.
    package static let window: TimeInterval = 300
    /// The maximum length of `jti` in bytes.
    package static let proofIDByteLimit = 256

    /// The accepted algorithms, in the order in which metadata and challenges list them.
    package static let algorithms = SigningAlgorithm.allCases

    private static let header = TokenHeader.Expectation(
        types: [.proofOfPossession], mayBeUntyped: false, algorithms: Set(algorithms), mayCarryKey: true)

    private let nonces: ProofNonces
    private let requiresNonce: Bool

    /// Creates a verifier.
    ///
    /// - Parameters:
    ///   - nonces: The nonces of this server; a nonce in a proof must be one of them.
    ///   - requiresNonce: Whether a proof without a nonce is rejected.
    package init(nonces: ProofNonces, requiresNonce: Bool) {
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
    package func verify(
        _ fields: [String], method: String, uris: [ProofURI], carrying token: AccessToken? = nil, at now: Date
    ) throws(DPoPProofRefusal) -> VerifiedDPoPProof? {
        guard let text = fields.first else { return nil }
        guard fields.count == 1 else { throw .severalProofs }
        let (claims, key) = try Self.parsed(text).authenticateByOwnKey(expecting: Self.header)
        let issuedAt: Date
        let proofID: String
        do {
            proofID = try claims.text("jti")
            guard try claims.text("htm").hasSameBytes(as: method) else { throw DPoPProofRefusal.wrongMethod }
            guard let uri = ProofURI(try claims.text("htu")), uris.contains(uri) else {
                throw DPoPProofRefusal.wrongURI
            }
            issuedAt = try claims.date("iat")
            try checkNonce(try claims.optionalText("nonce"), at: now)
            if let token {
                guard let hash = try claims.optionalText("ath"),
                    ConstantTime.equals(hash, DPoPProofClaims.hash(of: token))
                else { throw DPoPProofRefusal.wrongAccessTokenHash }
            }
        } catch let refusal as TokenRefusal {
            throw .token(refusal)
        } catch let refusal as DPoPProofRefusal {
            throw refusal
        } catch {
            throw .token(.malformed(.claims))
        }
        guard proofID.utf8.count <= Self.proofIDByteLimit else { throw .longProofID }
        guard abs(issuedAt.timeIntervalSince(now)) <= Self.window else { throw .notCurrent }
        guard let thumbprint = KeyThumbprint(key.thumbprint) else { throw .unusableKey(.malformed) }
        return VerifiedDPoPProof(
            thumbprint: thumbprint, proofID: proofID, expires: issuedAt.addingTimeInterval(Self.window))
    }

    private static func parsed(_ text: String) throws(DPoPProofRefusal) -> SignedToken {
        do { return try SignedToken(parsing: text) } catch { throw .token(error) }
    }

    /// RFC 9449 §8: a nonce that is sent must be good, even if none is required.
    private func checkNonce(_ nonce: String?, at now: Date) throws(DPoPProofRefusal) {
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
package struct VerifiedDPoPProof: Sendable, Hashable {
    /// The thumbprint of the key of which the client has proved possession.
    package let thumbprint: KeyThumbprint
    /// The digest of the key and the `jti`, by which a second use of the proof is detected.
    let digest: SHA256Digest
    /// The time after which the proof is rejected for its age.
    let expires: Date

    init(thumbprint: KeyThumbprint, proofID: String, expires: Date) {
        self.thumbprint = thumbprint
        self.expires = expires
        // `jti` is unique only among the proofs of one key: two clients may count from 1. The length of the thumbprint
        // is fixed, so that no two pairs have the same text.
        digest = SHA256.hash(data: Array((thumbprint.rawValue + proofID).utf8))
    }
}
