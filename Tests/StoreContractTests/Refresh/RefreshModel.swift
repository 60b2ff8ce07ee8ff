import CounterfoilServer
import Foundation

/// What one line of refresh tokens must do, and nothing else: the whole rule, to hold the server against.
///
/// Tokens are called by their generation; the one that came with the code is 0.
struct RefreshModel {
    /// How the application is set that is tried.
    static let gracePeriod: TimeInterval = 60
    static let idleLifetime: TimeInterval = 30 * 24 * 3600
    static let lifetime: TimeInterval = 180 * 24 * 3600
    static let repeatLimit = 5
    static let repeatPause: TimeInterval = 2
    static let graceOfWaiting: TimeInterval = 10

    /// What a client is answered.
    enum Answer: Hashable {
        /// Tokens, with the refresh token of this generation.
        case tokens(Int)
        /// `invalid_grant`.
        case refused
        /// 429: the client is to try again in a while.
        case wait
    }

    /// The generation that counts.
    private(set) var current = 0
    private(set) var isRevoked = false
    private var repeats = 0
    private var rotatedAt: Date
    /// For how long since the last rotation the store answered no server.
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
            // The token that counts is used, and that acknowledges it: from here on the one before it is stolen goods.
            (current, repeats, rotatedAt, usedAt, away) = (current + 1, 0, now, now, 0)
            return .tokens(current)
        }
        if generation == current - 1 {
            let isBusy = repeats >= Self.repeatLimit
            let grace = Self.gracePeriod + (isBusy ? Self.graceOfWaiting : 0)
            if now.timeIntervalSince(rotatedAt) - away <= grace {
                // Its successor is out and nobody has used it: the answer was lost, and is given again.
                guard !isBusy || now.timeIntervalSince(usedAt) >= Self.repeatPause else { return .wait }
                (repeats, usedAt) = (repeats + 1, now)
                return .tokens(current)
            }
            // A client that was told to wait ends nothing.
            if isBusy { return .refused }
        }
        isRevoked = true
        return .refused
    }

    /// While the store answered no server, no client could retry.
    mutating func beAway(for seconds: TimeInterval) { if seconds > ServiceRecord.silenceLimit { away += seconds } }

    mutating func revoke() { isRevoked = true }
}
