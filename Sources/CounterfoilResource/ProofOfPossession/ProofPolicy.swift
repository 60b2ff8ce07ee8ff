public import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens

/// The rules of an API for access tokens that are bound to a key, and for the DPoP proofs in its requests.
///
/// RFC 9449 §7. By default, an API accepts bound tokens with a proof, and bearer tokens. A bound token without a proof
/// of its key is always refused.
public struct ProofPolicy: Sendable, Hashable {
    /// The use of nonces, with which the API instead of the client decides how old a proof may be.
    ///
    /// RFC 9449 §9. A nonce is valid for about five minutes. It is computed from a key and the time, and needs no
    /// storage. If the API runs in several processes, all of them need the same key. With keys of their own, they
    /// refuse each other's nonces, and clients repeat most requests. Therefore no nonces are sent by default.
    public struct Nonces: Sendable, Hashable {
        enum Use: Sendable, Hashable {
            case unused
            case offered(ProofNonceKey)
            case required(ProofNonceKey)
        }

        let use: Use

        /// The API sends no nonces, and ignores the claim `nonce`.
        public static let unused = Nonces(use: .unused)

        /// The API sends a nonce in the response to each request with a proof.
        ///
        /// An API in one process can use the random key, and should offer nonces. Several processes need a common key.
        /// A proof may omit the nonce. If it contains one, the nonce must be valid.
        public static func offered(key: ProofNonceKey = ProofNonceKey()) -> Nonces { Nonces(use: .offered(key)) }

        /// The API sends nonces, and refuses a proof without one with status 401 and the error `use_dpop_nonce`.
        public static func required(key: ProofNonceKey = ProofNonceKey()) -> Nonces { Nonces(use: .required(key)) }
    }

    /// The number of used proofs that one process remembers by default.
    public static let standardProofLimit = ProofReplayMemory.standardCapacity

    /// Whether tokens that are not bound to a key are refused with status 401.
    public var requiresBoundTokens: Bool
    /// The use of nonces; by default, the API sends none.
    public var nonces: Nonces
    /// The URL under which clients reach the root of this program, for the comparison with the claim `htu`.
    ///
    /// The path of a request is appended to it. If nil, the origin of the audience is used. Set it if the audience is
    /// not an http or https URL of this API, or if a proxy removes a part of the path. The fields `Host` and
    /// `Forwarded` have no influence, because the sender of a stolen proof can choose them.
    public var publicURL: AbsoluteURI?
    /// The maximum number of used proofs that this process remembers, so that each is accepted once.
    ///
    /// A proof is remembered for up to eleven minutes, usually for five to six. If the memory is full, further proofs
    /// are refused with status 503. One user can use an eighth of the memory. Allow 400 proofs for each request in a
    /// second.
    public var proofLimit: Int

    /// Creates a policy; with the default values, it accepts bound tokens and bearer tokens, and uses no nonces.
    public init(
        requiresBoundTokens: Bool = false, nonces: Nonces = .unused, publicURL: AbsoluteURI? = nil,
        proofLimit: Int = standardProofLimit
    ) {
        self.requiresBoundTokens = requiresBoundTokens
        self.nonces = nonces
        self.publicURL = publicURL
        self.proofLimit = proofLimit
    }

    /// Whether a proof must contain a nonce.
    var requiresNonce: Bool {
        switch nonces.use {
        case .required: true
        case .unused, .offered: false
        }
    }
}
