import ACMEClient
import CounterfoilConsole
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import CounterfoilWeb
import Foundation
import HTTPListener
import Logging

/// Everything that a server needs to open its store, so that it can be tried again.
struct ServerOpening: Sendable {
    let storeLocation: InstallationOption.StoreLocation
    let settings: ServerSettings
    /// The settings that administration commands need, as they are in use.
    let recorded: SharedValue<RecordedSettings>
    /// The orders of the certificate; nil if it comes from files, or if there is none.
    let acme: ACMESettings?
    let ordered: OrderedCertificate?
    /// The certificate of the listeners; nil without TLS.
    let certificate: CurrentCertificate?
    /// The reader of the settings; nil if they do not come from options, variables and a file.
    let reload: SettingsReload?
    let outbound: OutboundRules
    /// The sender of mails; nil if none is set up.
    let mail: MailPost?
    /// The setting that names the endings journal, with its place, for error messages.
    let journalName: String
    let logger: Logger
}

/// A server with its store and its keys.
struct OpenedServer: Sendable {
    let server: AuthorizationServer
    let installation: Installation
    /// The link that creates the first owner; nil if an owner exists.
    let setupLink: String?
    /// The lock of the data directory; nil for a database, on which several servers can run.
    let lock: ServingLock?
    /// The service of the endings journal; nil without one.
    let endings: EndingsService?
    /// The service that orders the certificate; nil if none is ordered.
    let orders: CertificateOrders?
    /// The service that compares the servers on a database; nil with a data directory.
    let comparison: SettingsComparison?

    /// The time in seconds for which servers on one database show the same link for the first owner.
    private static let setupAge: TimeInterval = 3600

    /// Opens the store and the keys, and creates the server; throws ``CommandFailure``, and closes the store then.
    init(_ opening: ServerOpening) async throws {
        let logger = opening.logger
        let unsupported = UnsupportedValues(logger: logger)
        switch opening.storeLocation {
        case .directory(let path):
            let lock = try DataDirectory.lockForServing(path)
            try EndingsService.checkNew(
                path, journal: opening.recorded.value.endingsJournal, named: opening.journalName)
            let directory = try await DataDirectory(at: path, lockedBy: lock, reporting: unsupported)
            self.lock = lock
            installation = directory.installation
            if let copy = directory.store.copyOfEarlierVersion {
                logger.notice("upgraded the database; its former state was copied", metadata: ["copy": "\(copy)"])
            }
        case .database(let database):
            lock = nil
            installation = try await database.open(reporting: unsupported)
        }
        do {
            try await installation.store.checkRestored()
            // The journal and the settings are those of a server that has the right key.
            try await KeyRing.check(installation.store, serverKey: installation.serverKey)
            endings = try await EndingsService(
                opening.recorded.value.endingsJournal, named: opening.journalName, of: installation, logger: logger)
            // Signing keys can have ended.
            let keys = try await KeyRing.open(installation.store, serverKey: installation.serverKey)
            if let former = installation.recorded.issuer, former != opening.settings.issuer {
                logger.warning(
                    "started with another issuer than before, so clients that know the former one refuse this server",
                    metadata: ["issuer": "\(opening.settings.issuer)", "former": "\(former)"])
            }
            server = Self.server(opening, on: installation, keys: keys)
            comparison = installation.database.map { [installation, server] database in
                SettingsComparison(
                    store: database, serverKey: installation.serverKey, settings: { server.settings }, logger: logger)
            }
            server.previousKeyTokens.begin(
                after: installation.recorded.serverKeyUses.times, now: installation.store.now(),
                record: installation.noteKeptToken)
            await Self.warnOfMissingKeys(of: installation, logger: logger)
            // Several servers may start on a database, and the link that one shows must work at the others.
            setupLink = try await server.openSetup(keepingFor: lock == nil ? Self.setupAge : 0)
            orders = opening.acme.map { [installation] acme in
                CertificateOrders(
                    acme, store: installation.store, serverKey: installation.serverKey, certificate: opening.ordered,
                    logger: logger)
            }
        } catch {
            await installation.store.close()
            switch error {
            case let refusal as KeyRing.Refusal: throw CommandFailure.refused("\(refusal)")
            case let refusal as UnfinishedRestore: throw CommandFailure.refused("\(refusal)")
            case let fault as StoreFault: throw CommandFailure(fault)
            default: throw error
            }
        }
        // The first connections get the stored certificate; a fault of the store is met again by the service.
        try? await orders?.takeOver()
    }

    /// Stores the settings of this server, which listens, for administration commands.
    func note(_ settings: RecordedSettings) async throws {
        do { try await installation.note(settings) } catch let fault as StoreFault { throw CommandFailure(fault) }
    }

    private static func server(
        _ opening: ServerOpening, on installation: Installation, keys: KeyRing
    ) -> AuthorizationServer {
        if PublicSuffixList.system == nil {
            opening.logger.warning(
                "failed to load libpsl, so the consent page sets off the whole host of a client",
                metadata: ["packages": "libpsl5 (Debian, Ubuntu), libpsl (Fedora, Homebrew)"])
        }
        if PasswordStrength.system == nil {
            opening.logger.warning(
                "failed to load libzxcvbn, so only the most common passwords are refused",
                metadata: ["packages": "libzxcvbn0 (Debian, Ubuntu)"])
        }
        return AuthorizationServer(
            settings: opening.settings,
            store: installation.store,
            serverKey: installation.serverKey,
            keys: keys,
            hasher: PasswordHasher(),
            pages: .console,
            // There are several outbound clients, so that DNS lookups for one purpose cannot delay those for another.
            associations: AssociationFileFetcher(OutboundClient(opening.outbound)),
            clientFiles: OutboundClientFiles(opening.outbound),
            logoutSender: LogoutNoticePost(OutboundClient(opening.outbound)),
            mailSender: opening.mail,
            reporter: RunningInstallation(opening, on: installation),
            webhookSender: WebhookPost(.forWebhooks(opening.outbound)),
            logger: opening.logger
        )
    }

    /// Warns of former server keys without which refresh tokens are refused.
    ///
    /// It reads every token family, so a failure is logged and does not keep the server from starting.
    private static func warnOfMissingKeys(of installation: Installation, logger: Logger) async {
        do {
            for key in try await ServerKeyState.missing(of: installation) {
                logger.warning(
                    "started without a former server key, so its refresh tokens are refused",
                    metadata: [
                        "server_key": "\(key.fingerprint)", "needed_by": "\(key.needs.map(\.words).joined())",
                        "advice": "add it as the last key, unless it was stolen",
                    ])
            }
        } catch {
            logger.notice(
                "failed to look for refresh tokens of missing server keys",
                metadata: ["error": "\(error)", "advice": "use counterfoil-server key list"])
        }
    }
}

/// A value that is missing at first, and for which several tasks can wait.
final class LaterValue<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiting: [AsyncStream<Value>.Continuation] = []
    }

    private let state: Mutex<State>

    init(_ value: Value? = nil) { state = Mutex(State(value: value)) }

    /// The value; nil if it is missing.
    var current: Value? { state.withLock { $0.value } }

    func set(_ value: Value) {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            state.value = value
            return state.waiting
        }
        for one in waiting {
            one.yield(value)
            one.finish()
        }
    }

    /// Waits for the value; returns nil if the task is cancelled before.
    func wait() async -> Value? {
        let (values, continuation) = AsyncStream.makeStream(of: Value.self)
        let value = state.withLock { state in
            if state.value == nil { state.waiting.append(continuation) }
            return state.value
        }
        if let value { return value }
        for await value in values { return value }
        return nil
    }
}
