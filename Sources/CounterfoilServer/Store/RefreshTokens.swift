public import CounterfoilProtocol
public import Foundation

/// The refresh tokens of one grant: a line of generations, of which the last one counts (RFC 9700 §4.14.2).
///
/// A token names its line and its generation and proves both by itself (see `RefreshTokenAuthority`), so that no token is kept:
/// a line is one row, however often it is refreshed, and a token of any age is known for what it is.
public struct RefreshFamily: Sendable, Hashable {
    /// The number of immediate repeats of the answer to one refresh; after them, one repeat in each ``repeatPause``.
    public static let repeatLimit = 5
    /// The time between repeats beyond ``repeatLimit``, in seconds.
    public static let repeatPause: TimeInterval = 2

    /// The digest of the name that its tokens carry.
    public let digest: ArtefactDigest
    /// The grant that it belongs to.
    public let grantID: GrantIdentifier
    /// The generation that counts; 0 for the token that came with the code.
    public var generation: Int
    /// When that generation was made.
    public var rotatedAt: Date
    /// How often the generation before it was presented again.
    public var repeats: Int
    /// When it was last used.
    public var lastUsedAt: Date
    /// When it ends, however often it is used.
    public let expiresAt: Date

    /// Makes a record.
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

    /// The time until the last answer may be repeated, in seconds; 0 or less when it may be repeated now.
    public func repeatWait(at now: Date) -> TimeInterval {
        guard repeats >= Self.repeatLimit else { return 0 }
        return Self.repeatPause - now.timeIntervalSince(lastUsedAt)
    }
}

/// A line of refresh tokens with everything that a refresh is judged by, read at once.
public struct RefreshFacts: Sendable, Hashable {
    /// The line.
    public let family: RefreshFamily
    /// The grant that it belongs to.
    public let grant: Grant
    /// Who allowed it.
    public let person: Person
    /// The APIs of the grant, in its order, as far as they are registered.
    public let resources: [RegisteredResource]

    /// Makes facts.
    public init(
        family: RefreshFamily, grant: Grant, person: Person, resources: [RegisteredResource]
    ) {
        self.family = family
        self.grant = grant
        self.person = person
        self.resources = resources
    }
}

/// What is written when a refresh token is accepted.
public enum RefreshStep: Sendable, Hashable {
    /// The line goes on to a generation after the one that was read.
    case advance(to: Int)
    /// The answer to the last refresh is given once more.
    case `repeat`
    /// The token stays the one that counts; it is noted as used.
    case stay
}

/// What happened when a refresh was to be recorded.
public enum RecordRefreshOutcome: Sendable, Hashable {
    /// It is recorded.
    case recorded
    /// The line is not at the generation that was read any more, its grant has another scope, or its answer may not be repeated
    /// now; nothing was written.
    case changedMeanwhile
    /// The line, its grant or its person has ended meanwhile; nothing was written.
    case gone
}

/// What has become of the refresh tokens of one application.
public struct RefreshStatistics: Sendable, Hashable {
    /// How many answers were repeated, because the first one was lost on its way.
    public var repeats = 0
    /// How many lines were revoked because a token came back after its successor was used, or too late.
    public var reuses = 0
    /// When a token last came back so; nil when never.
    public var lastReuseAt: Date?
    /// How many grants ended, for whatever reason.
    public var revocations = 0

    /// Nothing has happened yet.
    public init() {}
}

/// The refresh tokens that are out.
public protocol RefreshTokenStore: Sendable {
    /// The line of a digest with its grant, person and application, also when any of them has ended.
    func refreshFacts(_ digest: ArtefactDigest) async throws(StoreFault) -> RefreshFacts?
    /// Records a refresh of a line that is still at the generation that was read, and that its grant and its consent are used,
    /// to within ``Grant/useResolution``.
    ///
    /// ``RefreshStep/repeat`` is recorded only when ``RefreshFamily/repeatWait(at:)`` is 0 or less. Of the facts that were read, the
    /// generation and the scope of the grant must still be true, so that no answer has a scope that the user has withdrawn.
    func recordRefresh(
        _ facts: RefreshFacts, _ step: RefreshStep, now: Date
    ) async throws(StoreFault) -> RecordRefreshOutcome
    /// What has become of the refresh tokens of an application.
    func refreshStatistics(of client: ClientIdentifier) async throws(StoreFault) -> RefreshStatistics
    /// What has become of the refresh tokens of every application together.
    func refreshStatistics() async throws(StoreFault) -> RefreshStatistics
}
