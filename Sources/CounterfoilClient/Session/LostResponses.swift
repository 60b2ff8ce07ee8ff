/// The limits within which a refresh sends the same refresh token again after a lost response.
///
/// A server that rotates refresh tokens answers the previous token again for a short time only, often one minute, and
/// later takes it for stolen. A retry must therefore follow at once.
struct RefreshLimits: Sendable {
    /// The maximum number of token requests, including the first.
    var attempts = 3
    /// The time limit of one request.
    var request = Duration.seconds(14)
    /// The time limit of all requests.
    var total = Duration.seconds(44)
}

/// A transport that limits the time of each request, and ends all of them at a deadline.
struct DeadlineTransport: HTTPTransport {
    let transport: any HTTPTransport
    let limit: Duration
    let deadline: ContinuousClock.Instant

    func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
        let rest = deadline - .now
        guard rest > .zero else { throw .timedOut(origin: request.endpoint.origin) }
        var limited = request
        limited.timeout = min(request.timeout, limit, rest)
        return try await transport.send(limited)
    }
}

extension SignInError {
    /// Whether the server may have processed the request although its response did not arrive.
    var mayHaveLostResponse: Bool {
        switch self {
        case .unavailable(.noResponse): true
        // A gateway got no response, or no valid one, from the server (RFC 9110 §15.6.3 and §15.6.5).
        case .unavailable(.status(502, _, nil)), .unavailable(.status(504, _, nil)): true
        case .unsafe(.tokenResponse(.unreadable)): true
        default: false
        }
    }

    /// Whether the server may have replaced the refresh token, and the client does not know the new one.
    ///
    /// A response that is too long is not lost: the refresh token is not sent again at once.
    var mayHaveReplacedRefreshToken: Bool {
        if case .unsafe(.transport(.tooLarge)) = self { true } else { mayHaveLostResponse }
    }

    /// Whether the response may be that of an endpoint that the server has moved.
    var mayBeOfMovedEndpoint: Bool {
        switch self {
        case .unavailable(.noResponse): true
        case .unsafe(.redirected), .unsafe(.tokenResponse(.unreadable)),
            .unsafe(.tokenResponse(.unreadableRefusal)):
            true
        default: false
        }
    }
}
