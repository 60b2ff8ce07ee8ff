/// The format of the responses of a scripted token endpoint.
public struct TokenScript: Sendable, Hashable, Codable {
    /// The format of the lifetime of an access token.
    public enum Lifetime: Sendable, Hashable, Codable {
        /// A number of seconds (RFC 6749 §5.1).
        case seconds
        /// A string with the number of seconds.
        case text
        /// A number of milliseconds, with the seconds in `expires_in_sec`.
        case milliseconds
        /// This JSON text, unchanged.
        case raw(String)
        /// No `expires_in`.
        case absent
    }

    /// The `scope` of a response.
    public enum GrantedScope: Sendable, Hashable, Codable {
        /// The granted scope.
        case honest
        /// No `scope`.
        case absent
        /// This text.
        case replaced(String)
    }

    /// The encoding of a response.
    public enum Encoding: String, Sendable, Hashable, Codable {
        /// JSON (RFC 6749 §5.1).
        case json
        /// Form encoding.
        case form
        /// Form encoding, unless `Accept` contains JSON.
        case formUnlessJSONIsAccepted = "form-unless-json-is-accepted"
    }

    /// The format of access tokens.
    public enum Format: String, Sendable, Hashable, Codable {
        /// A random string.
        case opaque
        /// A JWT (RFC 9068).
        case jwt
    }

    /// The number of seconds for which the API accepts an access token.
    public var lifetime = 3600
    /// The format of `expires_in`.
    public var expiresIn = Lifetime.seconds
    /// The `token_type` that replaces `Bearer` or `DPoP`.
    public var tokenType: String?
    /// The `scope` of the response.
    public var scope = GrantedScope.honest
    /// The separator of scope values.
    public var scopeSeparator = " "
    /// The format of access tokens.
    public var format = Format.opaque
    /// The encoding of the response.
    public var encoding = Encoding.json
    /// The member that contains all others except `ok`; nil means no nesting.
    public var nesting: String?
    /// Whether a successful response has `"ok":true`.
    public var saysOK = false
    /// Members that are added to the response, or replace those of the same name.
    public var extras: [WireMember] = []
    /// Members that are omitted.
    public var omitted: [String] = []

    /// Creates token responses that follow RFC 6749.
    public init() {}
}

/// The error responses of a scripted server.
public struct ErrorScript: Sendable, Hashable, Codable {
    /// Whether error responses of the token endpoint have status 200.
    public var statusIsAlways200 = false
    /// The error codes that replace those of the standards.
    public var codes: [String: String] = [:]
    /// Whether an error response has `"ok":false`.
    public var saysNotOK = false
    /// Whether `error` in API responses is an object with `code` and `message`.
    public var isNestedAtAPI = false

    /// Creates error responses that follow RFC 6749.
    public init() {}
}

/// Issuing and rotation of refresh tokens.
public struct RefreshTokenScript: Sendable, Hashable, Codable {
    /// The condition for issuing a refresh token.
    public enum Issue: Sendable, Hashable, Codable {
        /// Every grant gets a refresh token.
        case always
        /// No grant gets a refresh token.
        case never
        /// Grants of one of these scopes get a refresh token.
        case withScope([String])
        /// Requests with `access_type=offline` get a refresh token: the first one of a client, and those
        /// with `prompt=consent`.
        case withOfflineAccessType
    }

    /// The effect of a refresh on the refresh token.
    public enum Rotation: Sendable, Hashable, Codable {
        /// The old refresh token stays valid, and the response has none.
        case never
        /// The old refresh token stays valid, and the response repeats it.
        case repeated
        /// The response has a new refresh token; the value says what happens to the old one.
        case rotated(Old)
    }

    /// The effect of presenting a refresh token that was already used.
    public enum Old: String, Sendable, Hashable, Codable {
        /// The response has the same successor again.
        case answersAgain = "answers-again"
        /// The request fails, and nothing else happens.
        case isRefused = "is-refused"
        /// The request fails, and the server revokes every token of the grant (RFC 9700 §4.14.2).
        case revokesAll = "revokes-all"
    }

    /// The condition for issuing a refresh token.
    public var issue = Issue.always
    /// The effect of a refresh on the refresh token.
    public var rotation = Rotation.rotated(.revokesAll)
    /// Whether a refresh with `scope` fails.
    public var refusesScope = false

    /// Creates rotation with reuse detection.
    public init() {}
}
