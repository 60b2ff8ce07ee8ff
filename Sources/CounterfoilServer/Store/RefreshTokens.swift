public import CounterfoilProtocol
public import Foundation

/// A token family: the refresh tokens of one grant, numbered by generation, of which only the latest is valid
/// (RFC 9700 §4.14.2).
///
/// A token carries the name of its family, its generation and a proof of both (see `RefreshTokenCodec`).
/// The server therefore stores no token. A family is one row, however often it is refreshed, and a token of
/// any age can be recognized.
public struct RefreshFamily: Sendable, Hashable {
    /// The number of immediate repeats of one refresh response.
    ///
    /// Each further repeat must wait ``repeatPause``.
    public static let repeatLimit = 5
    /// The minimum time between repeats beyond ``repeatLimit``, in seconds.
    public static let repeatPause: TimeInterval = 2

    /// The digest of the family name that its tokens carry.
    public let digest: ArtefactDigest
    /// The grant that the family belongs to.
    public let grantID: GrantIdentifier
    /// The valid generation; 0 for the token that was issued with the code.
    public var generation: Int
    /// The time when the valid generation was created.
    public var rotatedAt: Date
    /// The number of times that the response of the last refresh was repeated.
    public var repeats: Int
    /// The time of the last use.
    public var lastUsedAt: Date
    /// The time when the family expires, however often it is used.
    public let expiresAt: Date

    /// Creates a record.
    public init(
        digest: ArtefactDigest,
        grantID: GrantIdentifier,
        generation: Int = 0,
        rotatedAt: Date,
        repeats: Int = 0,
        lastUsedAt: Date,
        expiresAt: Date
    ) {
        self.digest = digest
        self.grantID = grantID
        self.generation = generation
        self.rotatedAt = rotatedAt
        self.repeats = repeats
        self.lastUsedAt = lastUsedAt
        self.expiresAt = expiresAt
    }

    /// Returns the seconds until the last response may be repeated; 0 or less if it may be repeated now.
    public func repeatWait(at now: Date) -> TimeInterval {
        guard repeats >= Self.repeatLimit else { return 0 }
        return Self.repeatPause - now.timeIntervalSince(lastUsedAt)
    }
}

/// A token family with everything that a refresh decision needs, read in one transaction.
public struct RefreshFacts: Sendable, Hashable {
    /// The token family.
    public let family: RefreshFamily
    /// The grant that the family belongs to.
    public let grant: Grant
    /// The user who gave the permission.
    public let person: Person
    /// The registered APIs of the grant, in the order of the grant.
    public let resources: [RegisteredResource]

    /// Creates facts.
    public init(
        family: RefreshFamily, grant: Grant, person: Person, resources: [RegisteredResource]
    ) {
        self.family = family
        self.grant = grant
        self.person = person
        self.resources = resources
    }
}

/// The change to a token family when a refresh token is accepted.
public enum RefreshStep: Sendable, Hashable {
    /// Rotation: the family advances to a later generation, and its count of repeats becomes 0.
    case advance(to: Int)
    /// An idempotent retry: the response to the last refresh is repeated, and the repeat is counted.
    case `repeat`
    /// No rotation: the token stays valid, and its use is recorded.
    case stay
}

/// The outcome of ``RefreshTokenStore/recordRefresh(_:_:now:)``.
public enum RecordRefreshOutcome: Sendable, Hashable {
    /// The refresh was recorded.
    case recorded
    /// The generation of the family or the scope of the grant has changed since they were read, or a repeat
    /// must wait; nothing was written.
    case changedMeanwhile
    /// The family does not exist, its grant is revoked or its user is disabled; nothing was written.
    case gone
}

/// Statistics of the refresh tokens of one client.
public struct RefreshStatistics: Sendable, Hashable {
    /// The number of repeated responses, after a client had lost the first.
    public var repeats = 0
    /// The number of families revoked for reuse: a token was presented after its successor was used, or too
    /// late.
    public var reuses = 0
    /// The time of the last reuse; nil if there was none.
    public var lastReuseAt: Date?
    /// The number of revoked grants, for any reason.
    public var revocations = 0

    /// Creates statistics in which everything is 0.
    public init() {}
}

/// The token families.
public protocol RefreshTokenStore: Sendable {
    /// Reads a token family with its grant, user and client, even if the grant is revoked or the user
    /// disabled.
    func refreshFacts(_ digest: ArtefactDigest) async throws(StoreFault) -> RefreshFacts?
    /// Records a refresh: changes the family by a step, and updates the time of use of its grant and consent.
    ///
    /// The transaction checks that the family exists, its grant is not revoked and its user not disabled. The
    /// generation of the family and the scopes of the grant must still be those of `facts`. No response can
    /// therefore contain a scope that the user has withdrawn. ``RefreshStep/repeat`` also needs a
    /// ``RefreshFamily/repeatWait(at:)`` of 0 or less.
    ///
    /// If two rotations race, exactly one is recorded. The times of use need only be exact to
    /// ``Grant/useResolution``. A repeat is counted in the statistics of the client.
    func recordRefresh(
        _ facts: RefreshFacts, _ step: RefreshStep, now: Date
    ) async throws(StoreFault) -> RecordRefreshOutcome
    /// Reads the refresh statistics of a client; all 0 if it has none.
    func refreshStatistics(of client: ClientIdentifier) async throws(StoreFault) -> RefreshStatistics
    /// Reads the refresh statistics of all clients together.
    func refreshStatistics() async throws(StoreFault) -> RefreshStatistics
}
