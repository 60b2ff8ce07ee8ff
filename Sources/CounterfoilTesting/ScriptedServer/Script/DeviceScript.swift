/// How the sign-in on a device goes.
public struct DeviceScript: Sendable, Hashable, Codable {
    /// The answer to one poll.
    public enum Poll: Sendable, Hashable, Codable {
        /// `authorization_pending` (RFC 8628 §3.5).
        case pending
        /// `slow_down` (RFC 8628 §3.5).
        case slowDown
        /// `slow_down` with the status 429.
        case slowDownAsTooManyRequests
        /// `slow_down` with the new interval in the answer.
        case slowDownTo(Int)
        /// `access_denied`.
        case denied
        /// `expired_token`.
        case expired
        /// `other_dc`: the person's account is at the server beside this one, in the data centre of this name.
        case otherDataCentre(String)
        /// Any other answer.
        case answer(ScriptedAnswer)
        /// Tokens.
        case approved
    }

    /// The answers to the polls, in order; after the last one the person has approved.
    public var polls: [Poll] = []
    /// `interval`, in seconds; nil is none, which means 5 (RFC 8628 §3.2).
    public var interval: Int? = 1
    /// `expires_in`, in seconds.
    public var expiresIn = 600
    /// The name of the member that says where the person goes.
    public var verificationMember = "verification_uri"
    /// Whether there is an address with the code in it.
    public var hasCompleteAddress = true
    /// Members in the place of the honest ones, or beside them.
    public var replaced: [WireMember] = []

    /// A person who approves before the first poll.
    public init() {}
}

/// Whether the tokens of a scripted server are bound to keys (RFC 9449).
///
/// A proof that comes is checked whether or not it is required, and the token is bound to its key.
public struct DPoPScript: Sendable, Hashable, Codable {
    /// What is asked of proofs about a nonce.
    public enum NonceRule: String, Sendable, Hashable, Codable {
        /// Nothing.
        case none
        /// The one of this server, which stays.
        case lasting
        /// The last one that was given out, and each answer gives out another.
        case changing
    }

    /// Whether a request without proof is refused.
    public var isRequired = false
    /// What is asked at the token endpoint (RFC 9449 §8).
    public var tokenNonce = NonceRule.none
    /// What is asked at the API (RFC 9449 §9).
    public var apiNonce = NonceRule.none
    /// Whether every proof is refused as `invalid_dpop_proof`.
    public var refusesEveryProof = false
    /// Whether the server ignores proofs and issues bearer tokens.
    public var isIgnored = false

    /// Proofs are taken and not required.
    public init() {}
}

/// How clients register at a scripted server (RFC 7591).
public struct RegistrationScript: Sendable, Hashable, Codable {
    /// The error with which every registration is refused; nil is none.
    public var refusal: String?
    /// The status of that refusal.
    public var refusalStatus = 400
    /// Members of the answer in the place of those that were asked for.
    public var replaced: [WireMember] = []
    /// Members that the answer leaves out.
    public var omitted: [String] = []
    /// How long a secret is good, in seconds; nil is for ever.
    public var secretLifetime: Int?
    /// The way in which clients are made to prove themselves, whatever they asked for; nil is the one that they asked for.
    public var authenticationMethod: String?

    /// Whoever asks is registered as asked.
    public init() {}
}

/// How the revocation of a scripted server answers.
public struct RevocationScript: Sendable, Hashable, Codable {
    /// The text of a success; empty unless said otherwise (RFC 7009 §2.2).
    public var answer = ""
    /// Whether a token that is not known is an error.
    public var refusesUnknownTokens = false
    /// Whether the token is looked for in the query too.
    public var readsQuery = false

    /// Revocation as the standard has it.
    public init() {}
}
