public import CounterfoilTokens

/// What the ID tokens of a scripted server say.
public struct IDTokenScript: Sendable, Hashable, Codable {
    /// How an ID token is signed.
    public enum Signature: String, Sendable, Hashable, Codable {
        /// By a key that is published.
        case genuine
        /// By a key that is published, and changed afterwards.
        case broken
        /// By a key that is not published, under a name of its own.
        case unknownKey = "unknown-key"
        /// Not at all; the header says `none`.
        case none
        /// By HMAC with the client's secret; the header says `HS256`.
        case hs256 = "HS256"
    }

    /// Whether there is one when `openid` was asked for.
    public var isIssued = true
    /// Whether there is one in the answer to a refresh.
    public var comesWithRefresh = true
    /// How it is signed.
    public var signature = Signature.genuine
    /// Claims in the place of the honest ones, or beside them.
    public var replaced: [WireMember] = []
    /// Claims that are left out.
    public var omitted: [String] = []
    /// Who the ID token of a refresh is about; nil is the same person.
    public var subjectAfterRefresh: String?
    /// How many seconds `exp` and `iat` are off, beside the server's clock.
    public var timeOffset = 0

    /// ID tokens as the standard has them.
    public init() {}
}

/// What the keys of a scripted server are like.
public struct KeyScript: Sendable, Hashable, Codable {
    /// The algorithm of the signatures.
    public var algorithm = SigningAlgorithm.es256
    /// Whether there is a new key for each signature.
    public var rotatesBeforeSigning = false
    /// How many answers hold another key in the place of the right one, as from a cache.
    public var staleAnswers = 0
    /// How many keys that nothing is signed with stand before the right one.
    public var decoys = 0

    /// One key, published.
    public init() {}
}

/// What a scripted server says about the person.
public struct UserInfoScript: Sendable, Hashable, Codable {
    /// Claims in the place of the honest ones, or beside them.
    public var replaced: [WireMember] = []
    /// Claims that are left out.
    public var omitted: [String] = []
    /// Whether the answer is signed (OpenID Connect Core §5.3.2, `application/jwt`).
    public var isSigned = false

    /// The truth, as JSON.
    public init() {}
}
