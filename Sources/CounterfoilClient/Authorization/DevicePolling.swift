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
        let request = TokenRequest.deviceCode(
            .init(deviceCode: device.code, codeVerifier: verifier, resources: options.resources)
        ).parameters
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
        // The device polls at an interval that is 5 seconds longer from now on.
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
