public import CounterfoilProtocol
public import CounterfoilTokens

/// Why a sign-in, or a step of one, did not come to its end.
///
/// The cases tell apart what a program must treat differently: asked and refused, too late, unsafe, broken.
public enum SignInError: Error, Hashable, Sendable {
    /// The person or the server refused; asking again unchanged gives the same answer.
    case refused(OAuthError)
    /// Nobody answered in the browser in time.
    case timedOut
    /// The task that waited was cancelled.
    case cancelled
    /// An answer that cannot be trusted; nothing was sent on because of it.
    case unsafe(UnsafeAnswer)
    /// The network or the server failed; trying again later may help.
    case unavailable(ServerFailure)
    /// The answer of the browser cannot be taken, for a reason that can be shown.
    case cannotListen(String)
    /// What was given to sign in with is not usable, for a reason that can be shown.
    case unusable(String)
    /// The server does not know the application, and takes nothing by which it could come to know it.
    ///
    /// Ask the person for a client identifier that the server has given out.
    case noClient(Issuer)
    /// What the application registered itself cannot be read or written.
    case store(TokenStoreError)
}

extension SignInError: CustomStringConvertible {
    /// What happened, safe to show; a server's own words have their control characters removed.
    public var description: String {
        switch self {
        case .refused(let error) where error.code == .accessDenied:
            "access was not allowed" + Self.words(of: error)
        case .refused(let error):
            "the server refused: \(error.code.rawValue.strippingControlCharacters)" + Self.words(of: error)
        case .timedOut:
            "nobody answered in the browser in time. If the browser showed an error instead of a sign-in page, the client"
                + " or its redirect URI is probably not registered at the server"
        case .cancelled:
            "the sign-in was cancelled"
        case .unsafe(let answer):
            "an answer was rejected as unsafe: \(answer)"
        case .unavailable(let failure):
            "\(failure)"
        case .cannotListen(let reason):
            "the answer of the browser cannot be taken: \(reason)"
        case .unusable(let reason):
            reason
        case .noClient(let issuer):
            "\(issuer) does not know this application, and takes none that is not registered there. Get a client id from"
                + " whoever runs it, and name it"
        case .store(let error):
            "\(error)"
        }
    }

    private static func words(of error: OAuthError) -> String {
        error.description.map { " (\($0.strippingControlCharacters))" } ?? ""
    }
}

/// What made an answer unsafe.
public enum UnsafeAnswer: Hashable, Sendable, CustomStringConvertible {
    /// The server's metadata cannot be used.
    case metadata(AuthorizationServerConfiguration.Refusal)
    /// What the API says of itself cannot be used.
    case resource(ResourceDiscovery.Refusal)
    /// What came through the browser is not the answer to this sign-in.
    case callback(AuthorizationCallback.Refusal)
    /// The answer of the token endpoint is not one.
    case tokenResponse(TokenExchange.Refusal)
    /// The ID token is not genuine, or not for this client and this sign-in.
    case idToken(TokenRefusal)
    /// What the server says of the person is not about them.
    case userInfo(UserInfo.Refusal)
    /// What the server told the device cannot be used.
    case deviceAuthorization
    /// What the server answered to a registration cannot be used.
    case registration(ClientRegistration.Refusal)
    /// The ID token's keys cannot be read.
    case keys
    /// An answer that is too large, a redirect, or a certificate that is not trusted.
    case transport(TransportFailure)
    /// A server answered a request of this product with a redirect, which is never followed.
    case redirected(origin: String)

    /// What happened, safe to show.
    public var description: String {
        switch self {
        case .metadata(let refusal): "\(refusal)"
        case .resource(let refusal): "\(refusal)"
        case .callback(let refusal): "\(refusal)"
        case .tokenResponse(let refusal): "\(refusal)"
        case .idToken(let refusal): "\(refusal)"
        case .userInfo(let refusal): "\(refusal)"
        case .registration(let refusal): "\(refusal)"
        case .deviceAuthorization: "what the server says to show the person is not usable"
        case .keys: "the keys of the server cannot be read"
        case .transport(let failure): "\(failure)"
        case .redirected(let origin): "\(origin) answered with a redirect, which is never followed"
        }
    }
}

/// How the network or a server failed.
public enum ServerFailure: Hashable, Sendable, CustomStringConvertible {
    /// No answer came.
    case noAnswer(TransportFailure)
    /// The server answered with a status that says that it has trouble; and how long to wait, when it said that.
    case status(Int, origin: String, retryAfter: Duration? = nil)
    /// The server said that it has had enough for now.
    case busy(OAuthError, retryAfter: Duration)
    /// The server said so in the words of the standard: `server_error` or `temporarily_unavailable`.
    case error(OAuthError)

    /// What happened, safe to show.
    public var description: String {
        switch self {
        case .noAnswer(let failure): "\(failure)"
        case .status(let status, let origin, let pause):
            "\(origin) has trouble (status \(status)); try again " + Self.time(pause)
        case .busy(_, let pause): "the server has had too many requests; try again " + Self.time(pause)
        case .error(let error):
            "the server has trouble (\(error.code.rawValue.strippingControlCharacters)); try again later"
        }
    }
}

extension ServerFailure {
    /// How long to wait before the next attempt, when the server said that.
    public var retryAfter: Duration? {
        switch self {
        case .status(_, _, let pause): pause
        case .busy(_, let pause): pause
        case .noAnswer, .error: nil
        }
    }

    private static func time(_ pause: Duration?) -> String {
        pause.map { "in \($0.components.seconds) s" } ?? "later"
    }
}

extension SignInError {
    /// Sorts what a transport reports into failures that may pass and answers that are unsafe.
    package init(_ failure: TransportFailure) {
        switch failure {
        case .cancelled: self = .cancelled
        case .unreachable, .timedOut: self = .unavailable(.noAnswer(failure))
        case .untrusted, .tooLarge: self = .unsafe(.transport(failure))
        }
    }

    /// Sorts a refusal in the words of the standard into refusals and failures that may pass.
    init(_ error: OAuthError) {
        switch error.code {
        case .serverError, .temporarilyUnavailable: self = .unavailable(.error(error))
        default: self = .refused(error)
        }
    }
}
