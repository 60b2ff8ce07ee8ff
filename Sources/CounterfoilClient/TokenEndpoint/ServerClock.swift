import CounterfoilPlatform
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilTokens
import HTTPTypes

/// The clock of a server, from the `Date` field of its responses (RFC 9110 §6.6.1).
///
/// Times in responses over TLS only are read.
enum ServerClock {
    /// The difference from which a clock has changed, in seconds; a smaller one can be network delay.
    static let tolerance: TimeInterval = 5

    /// Returns the time of a response by the server's clock.
    ///
    /// Returns nil if the response has no valid `Date` field, or comes from a cache (RFC 9111 §5.1).
    static func date(in response: some HeadedResponse) -> Date? {
        guard response.head.headerFields[.age] == nil else { return nil }
        return response.head.headerFields[.date].flatMap(HTTPDate.parse)
    }
}

/// The time of a response, by this device's clock and by the server's.
///
/// The times in a token follow the server's clock. A device with a wrong clock would reject valid tokens without the
/// difference, so the client adds it. A difference of more than one hour is not added, because with it a token that
/// expired long ago could appear valid. The error then names the difference.
struct ResponseTime: Sendable, Hashable {
    /// The time at which the response arrived, by this device's clock.
    let received: Date
    /// The seconds by which the server's clock is ahead of this device's, negative if it is behind; 0 if unknown.
    let difference: TimeInterval

    /// The largest difference that is added, in seconds.
    private static let limit: TimeInterval = 3600

    /// Creates the time of a response; `serverDate` is nil if the response does not show it.
    init(received: Date, serverDate: Date?) {
        self.received = received
        let difference = serverDate?.timeIntervalSince(received) ?? 0
        self.difference = abs(difference) < ServerClock.tolerance ? 0 : difference
    }

    private var isBeyondLimit: Bool { abs(difference) > Self.limit }

    /// The time by which the times in tokens are judged.
    var forTokens: Date { received.addingTimeInterval(isBeyondLimit ? 0 : difference) }

    /// Returns the error with the difference of the clocks as the reason if a time in a token was refused by it.
    func explaining(_ error: SignInError) -> SignInError {
        guard isBeyondLimit, case .unsafe(.idToken(let refusal)) = error, refusal.isAboutTime else { return error }
        return .unsafe(.clock(ClockDifference(serverIsAheadBy: difference), refusal))
    }
}

/// The difference between the clocks of this device and of a server, which the `Date` field of its response shows
/// (RFC 9110 §6.6.1).
public struct ClockDifference: Sendable, Hashable, CustomStringConvertible {
    /// The seconds by which this device's clock is ahead of the server's; negative if it is behind.
    public let seconds: Int

    init(serverIsAheadBy seconds: TimeInterval) { self.seconds = Int(-seconds.rounded()) }

    /// A clause with the direction and the amount, such as "this device's clock is 2 h behind the server's".
    public var description: String {
        // Rounded, because the `Date` field has whole seconds.
        let (minutes, hours) = ((abs(seconds) + 30) / 60, (abs(seconds) + 1800) / 3600)
        let amount =
            minutes < 120 ? "\(minutes) min" : hours < 48 ? "\(hours) h" : "\((abs(seconds) + 43_200) / 86_400) days"
        return "this device's clock is \(amount) \(seconds > 0 ? "ahead of" : "behind") the server's"
    }
}

extension TokenRefusal {
    /// Whether a time in the token is the reason, so that a wrong clock can be.
    fileprivate var isAboutTime: Bool {
        switch self {
        case .expired, .notYetValid, .authenticationTooOld: true
        default: false
        }
    }
}

// MARK: - Times that this device signs

extension ServerClock {
    /// Returns the offset for times that this device signs: those in DPoP proofs and client assertions.
    ///
    /// Only the server of the response reads these times. Therefore an offset of any size counts: no expired token can
    /// appear valid by it. The offset is 0 if it can be network delay, also after the user has corrected the clock.
    /// Returns nil if the response does not show the server's clock.
    static func signingOffset(in response: some HeadedResponse, at now: Date = Date()) -> TimeInterval? {
        date(in: response).map { ResponseTime(received: now, serverDate: $0).difference }
    }

    /// The latest offsets of issuers whose clock differs from this device's.
    private static let offsets = Mutex<[Issuer: TimeInterval]>([:])

    /// Returns the time by an issuer's clock, as far as it is known.
    static func now(of issuer: Issuer) -> Date {
        Date().addingTimeInterval(offsets.withLock { $0[issuer] } ?? 0)
    }

    /// Records the clock of an issuer; returns true if it differs from what was known.
    @discardableResult
    static func record(_ response: TransportResponse, of issuer: Issuer) -> Bool {
        guard let offset = signingOffset(in: response) else { return false }
        return offsets.withLock { offsets in
            let known = offsets[issuer] ?? 0
            // A program that talks to very many servers forgets the clocks of the former ones.
            if offsets.count >= 256 { offsets.removeAll() }
            offsets[issuer] = offset == 0 ? nil : offset
            return abs(offset - known) > tolerance
        }
    }
}
