import CounterfoilPlatform
@_spi(Counterfoil) import CounterfoilProtocol

/// The failure of a refresh, which a process leaves for the other processes that need the same tokens.
///
/// The process leaves it with ``TokenStoreLock/leave(_:)``. A process that was waiting for the lock reports the same
/// failure and sends no request. A process that comes later sends none before the time that the server named in
/// `Retry-After`, and names the reason if the failure ended the session. The value contains no token: the refresh token
/// is in it as a digest. Its encoding may change between versions. A store ignores a failure that it cannot decode.
public struct RefreshFailure: Sendable, Hashable, Codable {
    /// The SHA-256 digest of what was sent, in base64url.
    private let digest: String
    /// The time of the failure, by this device's clock.
    private let since: Date
    /// The time before which no request is sent; nil if the server named none.
    private let pausedUntil: Date?
    private let reason: Reason
    /// Nil if the user stays signed in; otherwise whether an earlier response was lost.
    private let endedAfterLostResponse: Bool?

    private enum Reason: Sendable, Hashable, Codable {
        case refused(code: String, description: String?)
        case unavailable(String)
        case unsafe(String)
    }

    private enum CodingKeys: String, CodingKey {
        case digest = "sent_sha256"
        case since
        case pausedUntil = "paused_until"
        case reason
        case endedAfterLostResponse = "ended_after_lost_response"
    }

    /// The longest time for which `Retry-After` holds for other processes, in seconds; the field may contain anything.
    private static let longestPause: TimeInterval = 3600

    /// The time for which a server that has just failed is not asked several times again, in seconds.
    private static let recently: TimeInterval = 10

    /// Creates the failure of a refresh; nil if the cause is on this device, so that it is not that of other processes.
    init?(
        _ error: SessionError, sending token: RefreshToken, by authentication: ClientAuthentication, at now: Date
    ) {
        let secrets = [token.exposed, authentication.secret?.exposed].compactMap(\.self)
        switch error {
        case .ended(let cause, let afterLostResponse):
            self.init(cause, of: token.exposed, secrets, at: now, endedAfterLostResponse: afterLostResponse)
        case .unavailable(let cause):
            self.init(cause, of: token.exposed, secrets, at: now, endedAfterLostResponse: nil)
        default: return nil
        }
    }

    /// Creates the failure of a request for a token of a service, whose client is `service`.
    init?(
        _ cause: SignInError, ofService service: String, by authentication: ClientAuthentication, at now: Date
    ) {
        let secrets = [authentication.secret?.exposed].compactMap(\.self)
        self.init(cause, of: service, secrets, at: now, endedAfterLostResponse: nil)
    }

    private init?(
        _ cause: SignInError, of sent: String, _ secrets: [String], at now: Date, endedAfterLostResponse: Bool?
    ) {
        // A server may repeat what it received, decoded or as the form contained it.
        let forms = secrets.flatMap { [$0, FormParameters.encoded($0)] }
        func withoutSecret(_ text: String) -> String { forms.reduce(text) { $0.replacing($1, with: "<redacted>") } }
        switch cause {
        // Another process may need a token for another part of the sign-in.
        case .unsafe(.accessToken): return nil
        case .refused(let refusal):
            reason = .refused(code: refusal.code.rawValue, description: refusal.description.map(withoutSecret))
        case .unsafe(let response) where !cause.isFromElsewhere: reason = .unsafe(withoutSecret("\(response)"))
        case .unsafe, .unavailable: reason = .unavailable(withoutSecret("\(cause)"))
        case .timedOut, .codeExpired, .cancelled, .cannotListen, .unusable, .noClient, .store: return nil
        }
        digest = SentDigest.ofText(sent)
        since = now
        self.endedAfterLostResponse = endedAfterLostResponse
        var pause: Duration?
        if case .unavailable(let failure) = cause { pause = failure.retryAfter }
        pausedUntil = pause.map { now.addingTimeInterval(min($0 / .seconds(1), Self.longestPause)) }
    }

    /// Whether the failure ended the session.
    var endsSession: Bool { endedAfterLostResponse != nil }

    /// Returns whether the failure is that of a request with this refresh token.
    func concerns(_ token: RefreshToken) -> Bool { concerns(token.exposed) }

    /// Returns whether the failure is that of a request of this service.
    func concerns(service: String) -> Bool { concerns(service) }

    private func concerns(_ sent: String) -> Bool { ConstantTime.equals(digest, SentDigest.ofText(sent)) }

    /// Returns whether the failure happened after a time; a time in the future is that of a clock that was changed.
    func happened(after start: Date, at now: Date) -> Bool { since > start && since <= now }

    /// Returns whether the failure happened a few seconds ago.
    func isRecent(at now: Date) -> Bool { happened(after: now.addingTimeInterval(-Self.recently), at: now) }

    /// Returns the seconds until the next request may be sent; nil if it may be sent now.
    ///
    /// If the clock was set back since the failure, nothing is known about the time that has passed, and the result is
    /// nil.
    func pause(at now: Date) -> Int? {
        guard since <= now, let pausedUntil else { return nil }
        // A damaged lock file may contain any time.
        let end = min(pausedUntil, since.addingTimeInterval(Self.longestPause))
        return end > now ? Int(end.timeIntervalSince(now).rounded(.up)) : nil
    }

    /// The cause, in the words of the process that received it.
    var cause: SignInError {
        switch reason {
        case .refused(let code, let description): .refused(OAuthError(.init(rawValue: code), description))
        case .unavailable(let text): .unavailable(.reported(text))
        case .unsafe(let text): .unsafe(.reported(text))
        }
    }

    /// The error of a process that reports this failure.
    var error: SessionError {
        if let endedAfterLostResponse { return .ended(cause, afterLostResponse: endedAfterLostResponse) }
        return .unavailable(cause)
    }
}
