public import CounterfoilProtocol
public import Foundation

/// The digest of a secret of a confidential client.
///
/// The server showed the secret once, when it was created, and does not store it.
public struct ClientSecretRecord: Sendable, Hashable {
    /// The maximum number of secrets of one client.
    ///
    /// With two secrets, a developer can replace one without an interruption: add the new secret, configure the client
    /// with it, and delete the old one.
    public static let limit = 2

    /// The digest of the secret.
    ///
    /// The secret has 256 random bits, so a slow hash is not needed.
    public let digest: ArtefactDigest
    /// The confidential client that authenticates with the secret.
    public let clientID: ClientIdentifier
    /// The time of creation, by which ``RegistryReader/clientSecrets(of:)`` orders the secrets.
    public let createdAt: Date

    /// Creates the record of a new secret, or a record from the values that a store has read.
    public init(digest: ArtefactDigest, clientID: ClientIdentifier, createdAt: Date) {
        self.digest = digest
        self.clientID = clientID
        self.createdAt = createdAt
    }

    /// Twelve hexadecimal digits that tell the secrets of a client apart on pages and in documents.
    ///
    /// They are derived from ``digest`` by a second hash, and so contain no part of it.
    package var shortID: String {
        ArtefactDigest(naming: self).bytes.prefix(6).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// The outcome of ``ClientStore/addClientSecret(_:recording:)``.
public enum AddClientSecretOutcome: Sendable, Hashable {
    /// The secret is valid from now on.
    case added
    /// The client has ``ClientSecretRecord/limit`` secrets already; nothing was written.
    case tooMany
    /// The client does not exist; nothing was written.
    case clientDeleted
}
