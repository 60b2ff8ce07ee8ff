import CounterfoilServer
import CounterfoilStore
import Foundation

/// The required behaviour of one refresh token family, as a model that the server is compared with.
///
/// Tokens are identified by their generation; the one issued with the code is 0.
struct RefreshModel {
    /// The settings of the tested client.
    static let gracePeriod: TimeInterval = 60
    static let idleLifetime: TimeInterval = 30 * 24 * 3600
    static let lifetime: TimeInterval = 180 * 24 * 3600
    static let repeatLimit = 50
    static let repeatPause: TimeInterval = 2
    static let graceOfWaiting: TimeInterval = 10

    /// The response to a refresh request.
    enum Answer: Hashable {
        /// A successful response with the refresh token of this generation.
        case tokens(Int)
        /// `invalid_grant`.
        case refused
        /// Status 429: the client must retry later.
        case wait
    }

    /// The generation of the current token.
    private(set) var current = 0
    private(set) var isRevoked = false
    private var repeats = 0
    private var rotatedAt: Date
    /// The total duration of outages since the last rotation.
    private var away: TimeInterval = 0
    private var usedAt: Date
    private let endsAt: Date

    init(at now: Date) {
        rotatedAt = now
        usedAt = now
        endsAt = now + Self.lifetime
    }

    mutating func present(_ generation: Int, at now: Date) -> Answer {
        guard !isRevoked, now < endsAt, now.timeIntervalSince(usedAt) < Self.idleLifetime else { return .refused }
        if generation == current {
            // Using the current token acknowledges it: from now on the previous token counts as stolen.
            (current, repeats, rotatedAt, usedAt, away) = (current + 1, 0, now, now, 0)
            return .tokens(current)
        }
        if generation == current - 1 {
            let isBusy = repeats >= Self.repeatLimit
            let grace = Self.gracePeriod + (isBusy ? Self.graceOfWaiting : 0)
            if now.timeIntervalSince(rotatedAt) - away <= grace {
                // The successor was issued and never used: the response was lost, and the same one is sent
                // again.
                guard !isBusy || now.timeIntervalSince(usedAt) >= Self.repeatPause else { return .wait }
                (repeats, usedAt) = (repeats + 1, now)
                return .tokens(current)
            }
            // A client that was asked to retry later does not revoke the family.
            if isBusy { return .refused }
        }
        isRevoked = true
        return .refused
    }

    /// Adds an outage, during which no client could retry.
    mutating func beAway(for seconds: TimeInterval) { if seconds > ServiceRecord.silenceLimit { away += seconds } }

    mutating func revoke() { isRevoked = true }
}
