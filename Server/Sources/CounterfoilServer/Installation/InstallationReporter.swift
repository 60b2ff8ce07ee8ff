@_spi(Counterfoil) import CounterfoilProtocol
package import CounterfoilStore
package import Foundation
package import Logging

/// The source of the facts about an installation that only the program of the server knows, for administrators.
///
/// No value contains a secret.
package protocol InstallationReporter: Sendable {
    /// The settings in use, in the groups and the order of the help of `serve`.
    var settings: [ReportedSettings] { get }
    /// Whether the server orders its certificate from an authority.
    var ordersCertificate: Bool { get }

    /// Reads the state of the installation.
    func state(for request: RequestContext) async throws -> InstallationState
    /// Judges what this server knows without waiting for another host.
    func findings(for request: RequestContext) async -> [ServerFinding]
    /// Judges what takes longer: the server as clients reach it at its issuer, and what reads many records.
    ///
    /// - Returns: The findings; nil if they are not there in time for the answer. The next call waits for the same
    ///   check, of which one runs at a time.
    func slowFindings(for request: RequestContext) async -> [ServerFinding]?
    /// Reads what still needs each server key, the current one first.
    func serverKeys(for request: RequestContext) async throws -> [ServerKeyState]

    /// Reads everything that the server stores about a user, as `counterfoil-server user export` writes it.
    func export(of user: UserIdentifier, for request: RequestContext) async throws -> UserRecordsExport
}

/// The outcome of ``InstallationReporter/export(of:for:)``.
package enum UserRecordsExport: Sendable, Hashable {
    /// The records, as one JSON object.
    case records([UInt8])
    case notFound
    /// The records are too large for the memory of a request.
    case tooLarge
}

/// The settings of one group.
package struct ReportedSettings: Sendable, Hashable {
    /// The title of the group in the help of `serve`.
    package let title: String
    package let settings: [ReportedSetting]

    package init(title: String, settings: [ReportedSetting]) {
        self.title = title
        self.settings = settings
    }
}

/// A setting in use, and the place that sets it.
package struct ReportedSetting: Sendable, Hashable {
    package enum Value: Sendable, Hashable {
        case missing
        case one(String)
        case many([String])
        /// A value that is never shown.
        case secret
    }

    package enum Origin: Sendable, Hashable {
        case option
        case variable(String)
        /// A line of the settings file.
        case file(path: String, line: Int)
        /// A file of its own with the value.
        case credentials(path: String)
        case standard
    }

    package let name: String
    package let value: Value
    package let origin: Origin
    /// Whether the settings file has another value, which counts from the next restart.
    package let waitsForRestart: Bool

    package init(name: String, value: Value, origin: Origin, waitsForRestart: Bool = false) {
        self.name = name
        self.value = value
        self.origin = origin
        self.waitsForRestart = waitsForRestart
    }
}

/// The state of an installation.
package struct InstallationState: Sendable, Hashable {
    /// The name and version of the software of the database, such as `SQLite 3.46.1`.
    package var software: String
    /// The version of the tables.
    package var tables: Int
    /// The data directory, or the hosts and the name of the database.
    package var place: String
    /// The number of bytes of the database.
    package var size: Int
    /// The number of those bytes that are free for new records; nil if it is not known.
    package var free: Int?
    package var backup: Backup
    /// The certificate with which the server speaks TLS; nil if it does not.
    package var certificate: Certificate?
    /// The servers that run on the database, this one first; empty if there can be only one.
    package var servers: [Server]

    package struct Server: Sendable, Hashable {
        /// The machine and the process.
        package let name: String
        package let isThis: Bool

        package init(name: String, isThis: Bool) {
            self.name = name
            self.isThis = isThis
        }
    }

    package enum Backup: Sendable, Hashable {
        case made(Date)
        case never
        /// The backups of a database are not made by this program.
        case unknown
    }

    package struct Certificate: Sendable, Hashable {
        /// The URL of the authority that has issued it; nil if the certificate comes from files.
        package var authority: String?
        /// The validity; nil if there is no certificate yet.
        package var validity: DateInterval?
        package var isRenewalRequested: Bool
        /// The orders that have failed since the last one that succeeded.
        package var failed: FailedOrders?

        package init(
            authority: String? = nil, validity: DateInterval? = nil, isRenewalRequested: Bool = false,
            failed: FailedOrders? = nil
        ) {
            self.authority = authority
            self.validity = validity
            self.isRenewalRequested = isRenewalRequested
            self.failed = failed
        }
    }

    package init(
        software: String, tables: Int, place: String, size: Int, free: Int? = nil, backup: Backup = .unknown,
        certificate: Certificate? = nil, servers: [Server] = []
    ) {
        self.software = software
        self.tables = tables
        self.place = place
        self.size = size
        self.free = free
        self.backup = backup
        self.certificate = certificate
        self.servers = servers
    }
}

extension AuthorizationServer {
    /// Creates a server whose pages for administrators show what its program knows of the installation.
    package convenience init(
        settings: ServerSettings,
        store: any AuthorizationServerStore,
        serverKey: ServerKey,
        keys: KeyRing,
        hasher: PasswordHasher,
        pages: ServerPages,
        associations: any AssociationFetcher,
        clientFiles: any ClientFileFetcher,
        logoutSender: any LogoutNoticeSender,
        mailSender: (any MailSender)?,
        reporter: any InstallationReporter,
        webhookSender: any WebhookSender,
        logger: Logger
    ) {
        self.init(
            settings: settings, store: store, serverKey: serverKey, keys: keys, hasher: hasher, pages: pages,
            associations: associations, clientFiles: clientFiles, logoutSender: logoutSender, mailSender: mailSender,
            reporter: reporter, webhookSender: webhookSender, logger: logger, clock: { store.now() },
            wallClock: { Date() }, random: RandomBytes())
    }
}
