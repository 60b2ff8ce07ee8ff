/// The device sign-in of a scripted server.
public struct DeviceScript: Sendable, Hashable, Codable {
    /// The response to one poll.
    public enum Poll: Sendable, Hashable, Codable {
        /// `authorization_pending` (RFC 8628 §3.5).
        case pending
        /// `slow_down` (RFC 8628 §3.5).
        case slowDown
        /// `slow_down` with status 429.
        case slowDownAsTooManyRequests
        /// `slow_down` with the new interval in the response.
        case slowDownTo(Int)
        /// `access_denied`.
        case denied
        /// `expired_token`.
        case expired
        /// `other_dc`: the user's account is at the second server, in the data centre of this name.
        case otherDataCentre(String)
        /// Any other response.
        case answer(ScriptedAnswer)
        /// A successful token response.
        case approved
    }

    /// The responses to the polls, in order; after the last one the user has approved.
    public var polls: [Poll] = []
    /// `interval`, in seconds; nil omits it, which means 5 (RFC 8628 §3.2).
    public var interval: Int? = 1
    /// `expires_in`, in seconds.
    public var expiresIn = 600
    /// The name of the member with the verification URI.
    public var verificationMember = "verification_uri"
    /// Whether the response also has a verification URI that contains the user code.
    public var hasCompleteAddress = true
    /// Members that replace those of the response, or are added to it.
    public var replaced: [WireMember] = []

    /// Creates a device sign-in that the user approves before the first poll.
    public init() {}
}

/// The DPoP behaviour of a scripted server (RFC 9449).
///
/// The server checks every proof, required or not, and binds the token to its key.
public struct DPoPScript: Sendable, Hashable, Codable {
    /// A rule for the nonce of a proof.
    public enum NonceRule: String, Sendable, Hashable, Codable {
        /// No nonce is required.
        case none
        /// The nonce of the server, which never changes.
        case lasting
        /// The last nonce that the server returned; each response returns a new one.
        case changing
    }

    /// Whether a request without a proof is refused.
    public var isRequired = false
    /// The nonce rule of the token endpoint (RFC 9449 §8).
    public var tokenNonce = NonceRule.none
    /// The nonce rule of the API (RFC 9449 §9).
    public var apiNonce = NonceRule.none
    /// Whether every proof is refused as `invalid_dpop_proof`.
    public var refusesEveryProof = false
    /// Whether the server ignores proofs and issues bearer tokens.
    public var isIgnored = false

    /// Creates a server that accepts proofs and does not require them.
    public init() {}
}

/// The client registration of a scripted server (RFC 7591).
public struct RegistrationScript: Sendable, Hashable, Codable {
    /// The error code with which every registration fails; nil lets registrations succeed.
    public var refusal: String?
    /// The status of that error response.
    public var refusalStatus = 400
    /// Members of the response that replace the requested ones.
    public var replaced: [WireMember] = []
    /// Members that are omitted from the response.
    public var omitted: [String] = []
    /// The lifetime of a client secret, in seconds; nil means that it does not expire.
    public var secretLifetime: Int?
    /// The authentication method that replaces the requested one; nil keeps the requested one.
    public var authenticationMethod: String?

    /// Creates a server that registers every client as requested.
    public init() {}
}

/// The token revocation of a scripted server.
public struct RevocationScript: Sendable, Hashable, Codable {
    /// The body of a successful response, empty by default (RFC 7009 §2.2).
    public var answer = ""
    /// Whether revoking an unknown token is an error.
    public var refusesUnknownTokens = false
    /// Whether the server also reads the token from the query.
    public var readsQuery = false

    /// Creates a revocation endpoint that follows RFC 7009.
    public init() {}
}
