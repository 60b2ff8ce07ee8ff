/// The device authorization grant of a scripted server (RFC 8628).
public struct DeviceScript: Sendable, Hashable, Codable {
    /// The response to one poll of the token endpoint.
    public enum Poll: Sendable, Hashable, Codable {
        /// `authorization_pending` (RFC 8628 §3.5).
        case pending
        /// `slow_down` (RFC 8628 §3.5).
        case slowDown
        /// `slow_down` with HTTP status 429.
        case slowDownAsTooManyRequests
        /// `slow_down` with this `interval`, in seconds, in the response.
        case slowDownTo(Int)
        /// `access_denied`: the user denied the request (RFC 8628 §3.5).
        case denied
        /// `expired_token`: the device code has expired (RFC 8628 §3.5).
        case expired
        /// Zoho's error `other_dc`, with this data centre in `user_location`; later polls must go to the other server.
        case otherDataCentre(String)
        /// This scripted response.
        case answer(ScriptedAnswer)
        /// A successful token response.
        case approved
    }

    /// The responses to the first polls, in order; the poll after them succeeds.
    public var polls: [Poll] = []
    /// The polling interval (`interval`), in seconds; nil omits it, and the client then uses 5
    /// seconds (RFC 8628 §3.2).
    public var interval: Int? = 1
    /// Whether the device authorization request must contain an S256 code challenge (RFC 7636 §4.3).
    ///
    /// If a request contains a challenge, the token request must contain its verifier in any case.
    public var requiresPKCE = false
    /// The lifetime of the device code (`expires_in`), in seconds; the server announces it but does not enforce it.
    public var expiresIn = 600
    /// The name of the response member that contains the verification URI; some vendors use `verification_url`.
    public var verificationMember = "verification_uri"
    /// Whether the response also contains a verification URI that includes the user code.
    ///
    /// The name of this member is ``verificationMember`` with the suffix `_complete`.
    public var hasCompleteAddress = true
    /// Members that replace members of the same name in the response, or are added to it.
    public var replaced: [WireMember] = []

    /// Creates a script for a device sign-in that the user approves before the first poll.
    public init() {}
}

/// The DPoP behaviour of a scripted server (RFC 9449).
///
/// The server checks every proof that a request contains, even if the script does not require proofs. It binds
/// the issued tokens to the key of the proof. If ``isIgnored`` is true, the server does neither.
public struct DPoPScript: Sendable, Hashable, Codable {
    /// A rule for the nonce of a proof.
    public enum NonceRule: String, Sendable, Hashable, Codable {
        /// A proof needs no nonce.
        case none
        /// A proof must contain the nonce of the server; responses repeat the nonce and do not change it.
        case lasting
        /// A proof must contain the nonce that the server returned last.
        ///
        /// The token endpoint and the API return a new nonce in successful responses and when they reject a proof.
        case changing
    }

    /// Whether the token endpoint rejects a request without a proof.
    public var isRequired = false
    /// The nonce rule of the token endpoint (RFC 9449 §8).
    public var tokenNonce = NonceRule.none
    /// The nonce rule for requests to the API and to the UserInfo endpoint (RFC 9449 §9).
    public var apiNonce = NonceRule.none
    /// Whether the server rejects every proof with `invalid_dpop_proof`.
    public var refusesEveryProof = false
    /// Whether the server ignores proofs and issues bearer tokens.
    public var isIgnored = false

    /// Creates a script for a server that accepts proofs and does not require them.
    public init() {}
}

/// The client registration of a scripted server (RFC 7591).
public struct RegistrationScript: Sendable, Hashable, Codable {
    /// The error code with which every registration fails; nil lets registrations succeed.
    public var refusal: String?
    /// The scopes that a registration must not contain.
    ///
    /// A registration with one of them fails with `insufficient_scope` and status 403, as at Keycloak.
    public var refusedScopes: [String] = []
    /// Whether the response contains `registration_access_token` and `registration_client_uri` (RFC 7592 §3), with
    /// which the client can delete its registration.
    public var isManageable = false
    /// The initial access token that a registration requires (RFC 7591 §3); nil requires none.
    public var initialAccessToken: String?
    /// The HTTP status code of the error response with ``refusal``.
    public var refusalStatus = 400
    /// Members that replace members of the same name in the response, or are added to it.
    ///
    /// They change only the response, not the registration that the server stores.
    public var replaced: [WireMember] = []
    /// The names of members that are omitted from the response.
    public var omitted: [String] = []
    /// The lifetime of the client secret, in seconds; nil means that the client secret does not expire.
    ///
    /// The server announces the end as `client_secret_expires_at`, but does not enforce it.
    public var secretLifetime: Int?
    /// The `token_endpoint_auth_method` that replaces the requested one; nil keeps the requested one.
    public var authenticationMethod: String?

    /// Creates a script for a server that registers every client as requested.
    public init() {}
}

/// The revocation endpoint of a scripted server (RFC 7009), with its deviations.
public struct RevocationScript: Sendable, Hashable, Codable {
    /// The body of a successful response, empty by default (RFC 7009 §2.2).
    public var answer = ""
    /// Whether the revocation of an unknown token fails with `invalid_token`.
    public var refusesUnknownTokens = false
    /// Whether the server also accepts the token in the query of the URL.
    public var readsQuery = false

    /// Creates a script for a revocation endpoint that follows RFC 7009.
    public init() {}
}
