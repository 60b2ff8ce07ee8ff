/// How the answers of a scripted token endpoint look.
public struct TokenScript: Sendable, Hashable, Codable {
    /// How the lifetime of an access token is said.
    public enum Lifetime: Sendable, Hashable, Codable {
        /// In seconds, as a number (RFC 6749 §5.1).
        case seconds
        /// In seconds, as a text.
        case text
        /// In milliseconds, with the seconds in `expires_in_sec`.
        case milliseconds
        /// Whatever stands here, as it stands.
        case raw(String)
        /// Not at all.
        case absent
    }

    /// What is said about the scope.
    public enum GrantedScope: Sendable, Hashable, Codable {
        /// What was granted.
        case honest
        /// Nothing.
        case absent
        /// This.
        case replaced(String)
    }

    /// How the answer is encoded.
    public enum Encoding: String, Sendable, Hashable, Codable {
        /// As JSON (RFC 6749 §5.1).
        case json
        /// As a form.
        case form
        /// As a form unless the request says that it accepts JSON.
        case formUnlessJSONIsAccepted = "form-unless-json-is-accepted"
    }

    /// How access tokens look.
    public enum Format: String, Sendable, Hashable, Codable {
        /// Random text.
        case opaque
        /// Signed claims (RFC 9068).
        case jwt
    }

    /// For how many seconds an access token is accepted by the API.
    public var lifetime = 3600
    /// How the lifetime is said.
    public var expiresIn = Lifetime.seconds
    /// `token_type` in the place of the honest `Bearer` or `DPoP`.
    public var tokenType: String?
    /// What is said about the scope.
    public var scope = GrantedScope.honest
    /// What stands between the names of a scope.
    public var scopeSeparator = " "
    /// How access tokens look.
    public var format = Format.opaque
    /// How the answer is encoded.
    public var encoding = Encoding.json
    /// The member under which everything but `ok` stands; nil is none.
    public var nesting: String?
    /// Whether `"ok":true` stands in the answer.
    public var saysOK = false
    /// Members beside those of the standard.
    public var extras: [WireMember] = []
    /// Members that are left out.
    public var omitted: [String] = []

    /// Answers as the standard has them.
    public init() {}
}

/// How a scripted server refuses.
public struct ErrorScript: Sendable, Hashable, Codable {
    /// Whether a refusal has the status 200.
    public var statusIsAlways200 = false
    /// Words of the server's own in the place of the standard's.
    public var codes: [String: String] = [:]
    /// Whether a refusal says `"ok":false`.
    public var saysNotOK = false
    /// Whether `error` is an object with `code` and `message`, at the API.
    public var isNestedAtAPI = false

    /// Refusals as the standard has them.
    public init() {}
}

/// When refresh tokens come, and what becomes of them.
public struct RefreshTokenScript: Sendable, Hashable, Codable {
    /// Who gets one.
    public enum Issue: Sendable, Hashable, Codable {
        /// Everybody.
        case always
        /// Nobody.
        case never
        /// Who asks for one of these scopes.
        case withScope([String])
        /// Who asks with `access_type=offline`: at the first time, and with `prompt=consent` again.
        case withOfflineAccessType
    }

    /// What a refresh does to the refresh token.
    public enum Rotation: Sendable, Hashable, Codable {
        /// Nothing, and the answer has none: the old one stays.
        case never
        /// Nothing, and the answer repeats it.
        case repeated
        /// The answer brings a new one; of the old one this becomes.
        case rotated(Old)
    }

    /// What becomes of a refresh token that was used.
    public enum Old: String, Sendable, Hashable, Codable {
        /// It gives the same successor again.
        case answersAgain = "answers-again"
        /// It is refused, and nothing else happens.
        case isRefused = "is-refused"
        /// It is refused, and everything that came from it dies (RFC 9700 §4.14.2).
        case revokesAll = "revokes-all"
    }

    /// Who gets one.
    public var issue = Issue.always
    /// What a refresh does to it.
    public var rotation = Rotation.rotated(.revokesAll)
    /// Whether a refresh with `scope` is refused.
    public var refusesScope = false

    /// Rotation with detection of reuse.
    public init() {}
}
