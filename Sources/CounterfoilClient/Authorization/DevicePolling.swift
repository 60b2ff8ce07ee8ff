import CounterfoilProtocol

extension DeviceSignIn {
    /// Polls the token endpoint until the user has finished (RFC 8628 §3.5).
    ///
    /// Returns the tokens and the server that issued them, which can be another server of the vendor.
    func wait(
        for device: DeviceAuthorization, _ verifier: CodeVerifier, until deadline: ContinuousClock.Instant,
        at beginning: TokenEndpointClient
    ) async throws(SignInError) -> (TokenEndpointClient.IssuedTokens, AuthorizationServerConfiguration) {
        var endpoint = beginning
        var request = FormParameters([
            "grant_type": Self.grantType, "device_code": device.code.exposed, "code_verifier": verifier.exposed,
        ])
        for resource in options.resources { request.append("resource", resource.rawValue) }
        var interval = device.interval
        while true {
            guard ContinuousClock.now + interval < deadline else { throw .codeExpired }
            do { try await pause(interval) } catch { throw .cancelled }
            do throws(SignInError) {
                switch try await endpoint.outcome(of: request, isRefresh: false) {
                case .tokens(let issued): return (issued, endpoint.server)
                case .unusableAccessToken(_, let error): throw error
                case .otherServer(let origin, let error):
                    let other = endpoint.server.relocated(to: origin)
                    // The server in the error is the current one, or the vendor profile does not list it. Another poll
                    // would fail with the same error.
                    guard other != endpoint.server else { throw SignInError(error) }
                    endpoint.server = other
                }
            } catch {
                interval = try Self.interval(after: error, interval)
            }
        }
    }

    /// Returns the interval before the next poll; throws if the error ends the polling (RFC 8628 §3.5).
    private static func interval(
        after error: SignInError, _ interval: Duration
    ) throws(SignInError) -> Duration {
        switch error {
        case .refused(let refusal) where refusal.code == .authorizationPending: return interval
        case .refused(let refusal) where refusal.code == .slowDown: return interval + .seconds(5)
        case .refused(let refusal) where refusal.code == .expiredToken: throw .codeExpired
        // Any other OAuth error ends the polling, also `server_error`. Only a request without an OAuth response is
        // repeated, with exponential backoff.
        case .unavailable(.error): throw error
        case .unavailable(let failure):
            return max(interval, min(interval * 2, longestBackoff), failure.retryAfter ?? .zero)
        default: throw error
        }
    }

    /// The limit of the exponential backoff; the interval of the server and `Retry-After` can be longer.
    private static let longestBackoff = Duration.seconds(300)
}

extension OAuthError.Code {
    /// `authorization_pending`: the user has not decided yet, so the device polls again (RFC 8628 §3.5).
    fileprivate static let authorizationPending = Self(rawValue: "authorization_pending")
    /// `slow_down`: the device polls again, at an interval that is 5 seconds longer (RFC 8628 §3.5).
    fileprivate static let slowDown = Self(rawValue: "slow_down")
    /// `expired_token`: the device code has expired, so the sign-in ends (RFC 8628 §3.5).
    fileprivate static let expiredToken = Self(rawValue: "expired_token")
}
