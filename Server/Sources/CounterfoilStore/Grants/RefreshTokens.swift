public import CounterfoilProtocol
public import Foundation

/// A token family: the refresh tokens of one grant, numbered by generation, of which only the latest is valid (RFC 9700
/// §4.14.2).
///
/// A token contains the name of its family, its generation and an HMAC of both (see `RefreshTokenCodec`). The store
/// therefore contains no tokens, only one row for each family, however often it is refreshed. The server can recognize
/// a token of any age.
public struct RefreshFamily: Sendable, Hashable {
    /// The number of retries of one refresh that may follow each other without a pause.
    ///
    /// A retry gets the same new refresh token as the refresh itself. Requests that a client sends at once are retries,
    /// too, and clients take a refusal for the end of the sign-in, so the number is that of a busy program. After it,
    /// each retry must be at least ``repeatPause`` later than the previous one.
    public static let repeatLimit = 50
    /// The minimum time between two retries beyond ``repeatLimit``, in seconds.
    public static let repeatPause: TimeInterval = 2
    /// The precision of ``lastUsedAt`` in seconds, for a token that is not rotated.
    ///
    /// A refresh that changes nothing else records no use that is closer to the last one. So most refreshes with a
    /// bound token write nothing.
    public static let useResolution: TimeInterval = 900

    /// The digest of the family name, which every token of the family contains.
    public let digest: ArtefactDigest
    /// The grant that the family belongs to.
    public let grantID: GrantIdentifier
    /// The key of which every refresh must prove possession (RFC 9449 §5); nil if the tokens are bound to no key.
    ///
    /// Only the tokens of public clients are bound: from their first request with a proof on. A confidential client
    /// authenticates at each refresh.
    public var keyThumbprint: KeyThumbprint?
    /// The valid generation; 0 is the token that was issued for the authorization code.
    public var generation: Int
    /// The time when the valid generation was issued, from which the grace period for retries counts.
    public var rotatedAt: Date
    /// The number of accepted retries of the last refresh; a rotation resets it to 0.
    public var repeats: Int
    /// The time of the last refresh or retry, from which the idle lifetime counts; without rotation, with the precision
    /// ``useResolution``.
    public var lastUsedAt: Date
    /// The time when the family expires; no use extends it.
    public let expiresAt: Date

    /// Creates a record; by default of a family that was not refreshed yet.
    public init(
        digest: ArtefactDigest,
        grantID: GrantIdentifier,
        keyThumbprint: KeyThumbprint? = nil,
        generation: Int = 0,
        rotatedAt: Date,
        repeats: Int = 0,
        lastUsedAt: Date,
        expiresAt: Date
    ) {
        self.digest = digest
        self.grantID = grantID
        self.keyThumbprint = keyThumbprint
        self.generation = generation
        self.rotatedAt = rotatedAt
        self.repeats = repeats
        self.lastUsedAt = lastUsedAt
        self.expiresAt = expiresAt
    }

    /// Returns the seconds that the client must wait before it retries the last refresh; 0 or less if it need not
    /// wait.
    public func repeatWait(at now: Date) -> TimeInterval {
        guard repeats >= Self.repeatLimit else { return 0 }
        return Self.repeatPause - now.timeIntervalSince(lastUsedAt)
    }
}

/// A token family with its grant and its user, read in one transaction.
public struct RefreshFacts: Sendable, Hashable {
    /// The token family, which may have expired.
    public let family: RefreshFamily
    /// The grant that the family belongs to, which may be revoked.
    public let grant: Grant
    /// The user who gave the permission, whose account may be disabled.
    public let user: User

    /// Creates facts that a store has read in one transaction.
    public init(family: RefreshFamily, grant: Grant, user: User) {
        self.family = family
        self.grant = grant
        self.user = user
    }
}

/// The change to a token family when a refresh token is accepted.
public enum RefreshStep: Sendable, Hashable {
    /// Rotation: the family advances to a later generation, and ``RefreshFamily/repeats`` becomes 0.
    case advance(to: Int)
    /// Rotation that also binds the family, which is bound to no key yet, to a key (RFC 9449 §5).
    case bind(to: KeyThumbprint, advancingTo: Int)
    /// An idempotent retry: the server issues the token of the valid generation again, and the store counts the retry.
    case `repeat`
    /// No rotation: the token stays valid, and the store updates the time of last use.
    case stay
}

/// The outcome of ``RefreshTokenStore/recordRefresh(_:_:givingAccessUntil:attempt:now:recording:)``.
public enum RecordRefreshOutcome: Sendable, Hashable {
    /// The step was written to the token family, so the server may send the tokens.
    case recorded
    /// The generation or the key of the family or the scope of the grant has changed since `facts` were read, or the
    /// client must wait before another retry; nothing was written.
    case changedMeanwhile
    /// The family does not exist, its grant is revoked or its user is disabled; nothing was written.
    case gone
}

/// Statistics of the refresh tokens of one client.
public struct RefreshStatistics: Sendable, Hashable {
    /// The number of accepted retries of a refresh (``RefreshStep/repeat``).
    public var repeats = 0
    /// The number of families revoked for reuse of a token.
    ///
    /// A token is reused if it is presented after its successor was used, or after the grace period.
    public var reuses = 0
    /// The time of the last reuse; nil if there was none.
    public var lastReuseAt: Date?
    /// The number of revoked grants, for any reason.
    public var revocations = 0

    /// Creates statistics in which each number is 0 and there was no reuse.
    public init() {}
}

/// The token families, and the refresh statistics of clients.
public protocol RefreshTokenStore: Sendable {
    /// Reads a token family with its grant and user, even if the grant is revoked or the user is disabled.
    func refreshFacts(_ digest: ArtefactDigest) async throws(StoreFault) -> RefreshFacts?
    /// Records a refresh: applies a step to the family, and updates the time of use of its grant and consent.
    ///
    /// `end` is the expiry of the access token. The store keeps it with the time of use of the grant.
    ///
    /// The transaction checks that the family exists, its grant is not revoked and its user is not disabled. The
    /// generation of the family and the scopes of the grant must still equal those in `facts`. A response can
    /// therefore not contain a scope that the user has withdrawn. ``RefreshStep/repeat`` also requires that
    /// ``RefreshFamily/repeatWait(at:)`` is 0 or less, and ``RefreshStep/bind(to:advancingTo:)`` that the family is
    /// bound to no key.
    ///
    /// If two rotations race, exactly one is recorded. The store may skip the update of the time of use if the stored
    /// time of the grant is less than ``Grant/useResolution`` old. The statistics of the client count each
    /// ``RefreshStep/repeat``.
    ///
    /// The store keeps the attempt that last changed a family. If it is this attempt, the step was recorded before:
    /// nothing is written, and the outcome is the same again, as long as the grant and the user hold.
    func recordRefresh(
        _ facts: RefreshFacts, _ step: RefreshStep, givingAccessUntil end: Date, attempt: CommitAttempt, now: Date,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> RecordRefreshOutcome
    /// Reads the refresh statistics of a client; all 0 if it has none.
    func refreshStatistics(of client: ClientIdentifier) async throws(StoreFault) -> RefreshStatistics
    /// Reads the refresh statistics of all clients together.
    func refreshStatistics() async throws(StoreFault) -> RefreshStatistics
}
