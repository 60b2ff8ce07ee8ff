@_spi(Counterfoil) public import CounterfoilProtocol
public import Foundation

/// A request to the administration API that creates something and that its client can repeat: the first answer is kept.
public struct RepeatableRequest: Sendable, Hashable {
    /// The digest of the key that the client has chosen, with the operation, the client and its user.
    public let digest: ArtefactDigest
    /// The digest of the path and the body.
    public let content: ArtefactDigest
    /// The client, which has a limited number of kept answers.
    public let clientID: ClientIdentifier
    /// The time from which the key can be used for another request.
    public let expiresAt: Date

    /// Creates a record.
    public init(digest: ArtefactDigest, content: ArtefactDigest, clientID: ClientIdentifier, expiresAt: Date) {
        self.digest = digest
        self.content = content
        self.clientID = clientID
        self.expiresAt = expiresAt
    }
}

/// The outcome of ``KeptAnswerStore/beginAnswer(to:atMost:at:)``.
public enum BeginAnswerOutcome: Sendable, Hashable {
    /// The request is the first one with its key.
    case begun
    /// The first request with the key was the same; this is its encrypted answer.
    case answered([UInt8])
    /// The first request with the key was the same, and has no answer yet, or none that is known.
    case pending
    /// The first request with the key had another path or body.
    case otherContent
    /// The client has too many kept answers; the first of them expires at this time.
    case tooMany(until: Date)
}

/// The answers to requests that clients of the administration API can repeat.
public protocol KeptAnswerStore: Sendable {
    /// Notes a request before it is carried out, unless its key was used before.
    ///
    /// The check and the insertion are one transaction, so of several requests with one key at the same time, exactly
    /// one is carried out.
    func beginAnswer(
        to request: RepeatableRequest, atMost limit: Int, at now: Date
    ) async throws(StoreFault) -> BeginAnswerOutcome
    /// Keeps the encrypted answer to a request; it is deleted with the user whom it is about.
    func keepAnswer(
        _ sealed: [UInt8], to digest: ArtefactDigest, about user: UserIdentifier?
    ) async throws(StoreFault)
    /// Forgets a request that was refused and changed nothing, so that its key can be used again.
    func withdrawAnswer(to digest: ArtefactDigest) async throws(StoreFault)
}
