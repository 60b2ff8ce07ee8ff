public import CounterfoilTokens

/// The ID tokens of a scripted server, with their deviations from OpenID Connect Core §2.
public struct IDTokenScript: Sendable, Hashable, Codable {
    /// The kind of signature of an ID token.
    public enum Signature: String, Sendable, Hashable, Codable {
        /// A valid signature by a published key.
        case genuine
        /// An invalid signature; `kid` is that of a published key.
        case broken
        /// A signature by an unpublished key, whose identifier is in `kid`.
        case unknownKey = "unknown-key"
        /// No signature; `alg` is `none`.
        case none
        /// An HMAC with the client secret; `alg` is `HS256`.
        case hs256 = "HS256"
        /// `alg` is `PS256`, with an invalid signature, for clients that do not support this algorithm.
        case ps256 = "PS256"
    }

    /// Whether a token response contains an ID token if the scope contains `openid`.
    public var isIssued = true
    /// Whether the response to a refresh contains an ID token.
    public var comesWithRefresh = true
    /// The kind of signature of the ID tokens, by default valid.
    public var signature = Signature.genuine
    /// Claims that replace claims of the same name in the ID token, or are added to it.
    public var replaced: [WireMember] = []
    /// The names of claims that are omitted from the ID token.
    public var omitted: [String] = []
    /// The `sub` in the ID token of a refresh; nil keeps the `sub` of the user.
    public var subjectAfterRefresh: String?
    /// The number of seconds added to `exp` and `iat`, in addition to ``ServerScript/clockOffset``.
    public var timeOffset = 0

    /// Creates a script for ID tokens that follow OpenID Connect Core.
    public init() {}
}

/// The signing keys of a scripted server, and the key set that it publishes (RFC 7517 §5).
public struct KeyScript: Sendable, Hashable, Codable {
    /// The signature algorithm of ID tokens, JWT access tokens and signed UserInfo responses.
    public var algorithm = SigningAlgorithm.es256
    /// Whether the server replaces its signing key before it signs each ID token.
    public var rotatesBeforeSigning = false
    /// The number of initial key set responses that contain an unused key instead of the current
    /// one, as from a stale cache.
    public var staleAnswers = 0
    /// Whether the key set contains its keys in a different order each time.
    public var changesOrder = false
    /// The number of unused keys that precede the current key in the key set.
    public var decoys = 0

    /// Creates a script for a key set with one ES256 key.
    public init() {}
}

/// The UserInfo response of a scripted server, with its deviations from OpenID Connect Core §5.3.2.
public struct UserInfoScript: Sendable, Hashable, Codable {
    /// Claims that replace claims of the same name in the response, or are added to it.
    public var replaced: [WireMember] = []
    /// The names of claims that are omitted from the response.
    public var omitted: [String] = []
    /// Whether the response is signed (OpenID Connect Core §5.3.2, `application/jwt`).
    public var isSigned = false

    /// Creates a script for UserInfo responses in JSON that follow OpenID Connect Core.
    public init() {}
}
