public import CounterfoilProtocol
public import HTTPTypes

/// What the server answers, by address.
public enum Endpoint: Sendable, CaseIterable {
    /// Whether the process lives.
    case liveness
    /// Whether the process can serve.
    case readiness
    /// The metadata (RFC 8414 §3).
    case metadata
    /// `jwks_uri` (RFC 7517 §5).
    case keySet
    /// The authorization endpoint (RFC 6749 §3.1).
    case authorization
    /// Where the sign-in page sends what was typed.
    case signIn
    /// Where the consent page sends what was decided.
    case consent
    /// The token endpoint (RFC 6749 §3.2).
    case token
    /// The page of the one-time link that makes the first administrator.
    case setup

    /// The path under the issuer.
    var path: String {
        switch self {
        case .liveness: "/healthz"
        case .readiness: "/readyz"
        case .metadata: "/.well-known/openid-configuration"
        case .keySet: "/oauth2/jwks"
        case .authorization: "/oauth2/authorize"
        case .signIn: "/oauth2/authorize/sign-in"
        case .consent: "/oauth2/authorize/consent"
        case .token: "/oauth2/token"
        case .setup: "/setup"
        }
    }

    /// The paths at the origin of an issuer; the metadata have up to three.
    public func paths(of issuer: Issuer) -> [String] {
        switch self {
        case .metadata: issuer.metadataURLs.map { String($0.dropFirst(issuer.origin.count)) }
        default: [issuer.path + path]
        }
    }

    /// The methods that it answers; any other gets 405 with `Allow` and has no effect.
    public var methods: [HTTPRequest.Method] {
        switch self {
        case .liveness, .readiness, .metadata, .keySet: [.get, .head]
        case .authorization, .setup: [.get, .post]
        case .signIn, .consent, .token: [.post]
        }
    }

    /// The most bytes of a body.
    public var bodyLimit: Int {
        switch self {
        case .liveness, .readiness, .metadata, .keySet: 0
        case .authorization, .token, .setup: 32 * 1024
        // These carry an authorization request, which is encoded twice, beside what was typed.
        case .signIn, .consent: 128 * 1024
        }
    }

    /// Whether a person reads the answer; otherwise a program does.
    public var answersPeople: Bool {
        switch self {
        case .liveness, .readiness, .metadata, .keySet, .token: false
        case .authorization, .signIn, .consent, .setup: true
        }
    }
}
