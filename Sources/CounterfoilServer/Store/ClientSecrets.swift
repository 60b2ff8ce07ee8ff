public import CounterfoilProtocol
public import Foundation

/// A secret of a confidential application, as a digest: it was shown once and is nowhere else.
public struct ClientSecretRecord: Sendable, Hashable {
    /// How many secrets an application may have at once, so that one can take over from the other.
    public static let limit = 2

    /// The digest of the secret, which has 256 random bits and needs no slow hash.
    public let digest: ArtefactDigest
    /// Whose it is.
    public let clientID: ClientIdentifier
    /// When it was made.
    public let createdAt: Date

    /// Makes a record.
    public init(digest: ArtefactDigest, clientID: ClientIdentifier, createdAt: Date) {
        self.digest = digest
        self.clientID = clientID
        self.createdAt = createdAt
    }
}

/// What happened when a secret was to be added.
public enum AddClientSecretOutcome: Sendable, Hashable {
    /// It counts from now on.
    case added
    /// There are as many as there may be; nothing was written.
    case tooMany
    /// The application does not exist any more; nothing was written.
    case clientGone
}
