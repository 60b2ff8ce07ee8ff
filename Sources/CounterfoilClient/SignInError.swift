public import CounterfoilProtocol
public import CounterfoilTokens

/// The reason why a sign-in, or a step of a sign-in, failed.
///
/// The most important cases, which a program should handle differently, are ``refused(_:)``, ``timedOut``,
/// ``unsafe(_:)`` and ``unavailable(_:)``.
public enum SignInError: Error, Hashable, Sendable {
    /// The user or the server refused the request, and would probably refuse the same request again.
    case refused(OAuthError)
    /// The browser did not return in time.
    case timedOut
    /// The user did not approve a device sign-in before its code expired (RFC 8628 §3.5), or in time.
    case codeExpired
    /// The task that waited for the sign-in was cancelled.
    case cancelled
    /// The client rejected a response that cannot be trusted, and used nothing from it.
    case unsafe(UnsafeResponse)
    /// The network or the server failed temporarily; a later retry may succeed.
    case unavailable(ServerFailure)
    /// The client cannot receive the callback, for example because a port is in use.
    ///
    /// The reason is safe to show to users.
    case cannotListen(String)
    /// A setting of the sign-in is invalid, or the server does not support it.
    ///
    /// The reason is safe to show to users.
    case unusable(String)
    /// The client has no identifier at the server, and the client and the server support no common way to obtain one.
    ///
    /// Ask the user for a client identifier that the server's operator has issued.
    case noClient(Issuer)
    /// The store failed to lock, read or write the client's registration.
    case store(TokenStoreError)
}

extension SignInError: CustomStringConvertible {
    /// A description that is safe to show to users; control characters are removed from the server's text.
    public var description: String {
        switch self {
        case .refused(let error) where error.code == .accessDenied:
            "access was denied" + Self.words(of: error)
        case .refused(let error) where error.code == .unmetAuthenticationRequirements:
            "the server could not sign the user in as strongly as required: \(error.code)" + Self.words(of: error)
                + ". Sign in again with a stronger method, such as a passkey; if you have none, add it on your account page"
                + " at the server"
        case .refused(let error):
            "the server refused: \(error.code.rawValue.strippingControlCharacters)" + Self.words(of: error)
        case .timedOut:
            "no response arrived from the browser in time. If the browser showed an error instead of a sign-in page, the client"
                + " or its redirect URI is probably not registered at the server"
        case .codeExpired:
            "the code expired before the sign-in was approved on another device. Sign in again to get a new code"
        case .cancelled:
            "the sign-in was cancelled"
        case .unsafe(.clock(let difference, let refusal)):
            "\(UnsafeResponse.clock(difference, refusal))"
        case .unsafe(let answer):
            "a response was rejected as unsafe: \(answer)"
        case .unavailable(let failure):
            "\(failure)"
        case .cannotListen(let reason):
            "cannot receive the response from the browser: \(reason)"
        case .unusable(let reason):
            reason
        case .noClient(let issuer):
            "the client is not registered at \(issuer), and the server supports neither dynamic registration nor"
                + " client metadata documents. Get a client ID from the operator of the server and pass it"
        case .store(let error):
            "\(error)"
        }
    }

    fileprivate static func words(of error: OAuthError) -> String {
        error.description.map { " (\($0.strippingControlCharacters))" } ?? ""
    }
}

/// The kind of response that the client does not trust, with the reason.
public enum UnsafeResponse: Hashable, Sendable, CustomStringConvertible {
    /// The server's metadata are malformed, name another issuer, or lack a required member (RFC 8414 §2 and §3.3).
    case metadata(AuthorizationServerConfiguration.Refusal)
    /// The API's metadata are malformed, name another API, or contain no usable server (RFC 9728 §2 and §3.3).
    case resource(ResourceDiscovery.Refusal)
    /// The callback is not a valid response to the authorization request of this sign-in.
    case callback(AuthorizationCallback.Refusal)
    /// A token response or an error response is malformed, or lacks a required part such as the ID token.
    case tokenResponse(TokenResponseRefusal)
    /// An access token is for more than the part of a sign-in for which it was requested.
    case accessToken(AccessTarget.Excess)
    /// The ID token failed verification, or was issued for another client or another sign-in.
    case idToken(TokenRefusal)
    /// The ID token is signed with this algorithm (`alg`), which the client does not accept (RFC 8725 §3.1).
    case idTokenAlgorithm(String)
    /// A time in an ID token or a signed UserInfo response failed verification, and the clocks differ by more than an
    /// hour, which explains it.
    case clock(ClockDifference, TokenRefusal)
    /// The UserInfo response cannot be parsed, or is about another user.
    case userInfo(UserInfo.Refusal)
    /// The device authorization response is malformed (RFC 8628 §3.2).
    case deviceAuthorization
    /// The registration response is malformed, or differs from the request in a way that the client cannot accept.
    case registration(ClientRegistration.Refusal)
    /// The server's key set, which verifies ID tokens, cannot be fetched or parsed.
    case keys
    /// The response is too large, or the server's TLS certificate is not trusted.
    case transport(TransportFailure)
    /// The server responded with a redirect, which the client never follows.
    case redirected(origin: String)
    /// Another process or task received the response; the value is its description.
    case reported(String)

    /// A description that is safe to show to users.
    public var description: String {
        switch self {
        case .metadata(let refusal): "\(refusal)"
        case .resource(let refusal): "\(refusal)"
        case .callback(let refusal): "\(refusal)"
        case .tokenResponse(let refusal): "\(refusal)"
        case .accessToken(let excess): "\(excess)"
        case .idToken(let refusal): "\(refusal)"
        case .idTokenAlgorithm(let algorithm):
            "the ID token is signed with \(algorithm.strippingControlCharacters), and this client accepts only ES256, RS256,"
                + " Ed25519 and EdDSA; choose one of them for the client at the server"
        case .clock(let difference, let refusal):
            "\(difference), so a token fails verification: \(refusal). Set the clock of this device, or that of the"
                + " server if it is the wrong one, and try again"
        case .userInfo(let refusal): "\(refusal)"
        case .registration(let refusal): "\(refusal)"
        case .deviceAuthorization: "the device authorization response is invalid"
        case .keys: "the key set of the server is invalid"
        case .transport(let failure): "\(failure)"
        case .redirected(let origin): "\(origin) responded with a redirect, which is never followed"
        case .reported(let description): description
        }
    }
}

/// A failure of the network or of a server, after which a later retry may succeed.
public enum ServerFailure: Hashable, Sendable, CustomStringConvertible {
    /// No complete response arrived.
    case noResponse(TransportFailure)
    /// The server responded with status 429 or 5xx; `retryAfter` is nil if the response contains no time to wait.
    case status(Int, origin: String, retryAfter: Duration? = nil)
    /// The server sent a vendor's own error code for too many requests; `retryAfter` is the time to wait.
    case busy(OAuthError, retryAfter: Duration)
    /// The server sent an OAuth error with status 5xx, or the error `server_error` or `temporarily_unavailable`.
    ///
    /// `retryAfter` is nil if the response contains no time to wait.
    case error(OAuthError, retryAfter: Duration? = nil)
    /// Another process or task sent the request, and it failed; the value is the description of its failure.
    case reported(String)

    /// A description that is safe to show to users.
    public var description: String {
        switch self {
        case .noResponse(let failure): "\(failure)"
        case .status(let status, let origin, let pause):
            "\(origin) failed or is overloaded (status \(status)); try again " + Self.time(pause)
        case .busy(_, let pause): "the server has received too many requests; try again " + Self.time(pause)
        case .reported(let description): description
        case .error(let error, let pause):
            "the server reported a temporary error: \(error.code.rawValue.strippingControlCharacters)"
                + SignInError.words(of: error) + "; try again " + Self.time(pause)
        }
    }
}

extension ServerFailure {
    /// The time to wait before the next attempt; nil if the response contains none.
    public var retryAfter: Duration? {
        switch self {
        case .status(_, _, let pause): pause
        case .busy(_, let pause): pause
        case .error(_, let pause): pause
        case .noResponse, .reported: nil
        }
    }

    private static func time(_ pause: Duration?) -> String {
        pause.map { "in \($0.components.seconds) s" } ?? "later"
    }
}

extension SignInError {
    /// Converts a transport failure to a cancellation, a temporary failure or an unsafe response.
    package init(_ failure: TransportFailure) {
        switch failure {
        case .cancelled: self = .cancelled
        case .unreachable, .timedOut: self = .unavailable(.noResponse(failure))
        case .untrusted, .tooLarge: self = .unsafe(.transport(failure))
        case .notSigned(let reason), .misconfigured(let reason): self = .unusable(reason)
        case .bodyUnreadable: self = .unusable(failure.description)
        }
    }

    /// Converts `server_error` and `temporarily_unavailable` to a temporary failure, and any other error to a refusal.
    init(_ error: OAuthError) {
        switch error.code {
        case .serverError, .temporarilyUnavailable: self = .unavailable(.error(error))
        default: self = .refused(error)
        }
    }
}
