@_spi(Counterfoil) import CounterfoilProtocol

/// The key in the header of a DPoP proof, parsed and ready to verify the proof.
///
/// It proves nothing until a signature is verified with it.
struct ProofKey: Sendable {
    private static let expected = TokenHeader.Expectation(
        types: [.proofOfPossession], mayBeUntyped: false, algorithms: Set(DPoPProofVerifier.algorithms),
        mayCarryKey: true)

    /// The thumbprint of the key, to which tokens are bound.
    let thumbprint: KeyThumbprint
    private let key: JSONWebKey

    /// Reads the key from the header of a proof, which must be one that RFC 9449 §4.3 allows.
    init(_ header: TokenHeader) throws(DPoPProofRefusal) {
        let algorithm: SigningAlgorithm
        do { (_, algorithm) = try header.accept(Self.expected) } catch { throw .token(error) }
        guard case .object(let members)? = header.key else { throw .keyMissing }
        do { key = try JSONWebKeyMembers(members).key() } catch { throw .unusableKey(error) }
        guard key.verifies(algorithm) else { throw .token(.badSignature) }
        guard let thumbprint = KeyThumbprint(key.thumbprint) else { throw .unusableKey(.malformed) }
        self.thumbprint = thumbprint
    }

    /// Verifies the signature of a proof with this header, then parses the claims.
    func claims(of proof: CompactToken) throws(TokenRefusal) -> DPoPProofClaims {
        guard key.material.isValidSignature(proof.signature, for: proof.signedPart) else { throw .badSignature }
        return try DPoPProofClaims(proof.authenticClaims(.proofOfPossession, key.algorithm))
    }
}

/// The keys of the proofs that were verified last, by the text of the header; bounded in memory.
///
/// A client sends the same header with each proof. Parsing it takes longer than half a signature check.
final class RecentProofKeys: Sendable {
    /// The maximum number of keys; when it is reached, the older half is forgotten.
    private static let capacity = 4096
    /// The maximum length of a header in bytes; the key of a longer one is parsed each time.
    private static let byteLimit = 1024

    private struct State {
        var newer: [ArraySlice<UInt8>: ProofKey] = [:]
        var older: [ArraySlice<UInt8>: ProofKey] = [:]
    }

    private let state = Mutex(State())

    /// Returns the key for a header that was remembered; nil if there is none.
    func key(for header: ArraySlice<UInt8>) -> ProofKey? {
        state.withLock { state in
            if let key = state.newer[header] { return key }
            guard let key = state.older[header] else { return nil }
            Self.remember(key, for: header, in: &state)
            return key
        }
    }

    /// Remembers the key of a header, after a signature was verified with it.
    func remember(_ key: ProofKey, for header: ArraySlice<UInt8>) {
        guard header.count <= Self.byteLimit else { return }
        state.withLock { Self.remember(key, for: header, in: &$0) }
    }

    private static func remember(_ key: ProofKey, for header: ArraySlice<UInt8>, in state: inout State) {
        if state.newer.count >= capacity / 2 { (state.older, state.newer) = (state.newer, [:]) }
        // The slice would keep the whole proof in memory.
        state.newer[Array(header)[...]] = key
    }
}
