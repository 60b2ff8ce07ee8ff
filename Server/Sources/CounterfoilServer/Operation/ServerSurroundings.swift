public import Foundation

/// The facts that the program of a server knows and its store does not: the last backup, and the certificate.
///
/// The first page of the administration says if one of them wants attention.
public struct ServerSurroundings: Sendable, Hashable {
    /// The last backup of the store.
    public enum Backup: Sendable, Hashable {
        /// A backup was finished at a time.
        case made(Date)
        /// No backup was ever finished.
        case never
        /// The program does not make the backups, as those of a database.
        case unknown
    }

    /// The last backup.
    public var backup: Backup
    /// The validity of the certificate of the server; nil if there is none, or if the server does not terminate TLS.
    public var certificate: DateInterval?

    /// Creates surroundings; by default, nothing is known of them.
    public init(backup: Backup = .unknown, certificate: DateInterval? = nil) {
        self.backup = backup
        self.certificate = certificate
    }
}
