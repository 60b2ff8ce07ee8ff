import CounterfoilPostgreSQL
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilServer
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import CounterfoilWeb
import Foundation
import HTTPListener

/// The reporter of a running server, which judges itself as `counterfoil-server doctor` judges it from outside.
final class RunningInstallation: InstallationReporter {
    private let installation: Installation
    private let place: InstallationOption.StoreLocation
    /// The settings of this server, as they are in use.
    private let recorded: SharedValue<RecordedSettings>
    private let certificate: CurrentCertificate?
    let ordersCertificate: Bool
    private let reload: SettingsReload?
    private let environment: [String: String]
    private let check = OneCheck()

    init(
        _ opening: ServerOpening, on installation: Installation,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        self.installation = installation
        place = opening.storeLocation
        recorded = opening.recorded
        certificate = opening.certificate
        ordersCertificate = opening.acme != nil
        reload = opening.reload
        self.environment = environment
    }

    var settings: [ReportedSettings] { reload?.reported(environment) ?? [] }

    private var backup: InstallationState.Backup {
        guard case .directory(let path) = place else { return .unknown }
        return LastBackup.time(in: path).map(InstallationState.Backup.made) ?? .never
    }

    func state(for request: RequestContext) async throws -> InstallationState {
        let store = installation.store.serving(request)
        let (versions, space) = (try await store.versions(), try await store.space())
        return InstallationState(
            software: versions.software, tables: versions.tables, place: "\(place)", size: space.database,
            free: space.free, backup: backup,
            certificate: try await certificateState(in: store), servers: try await servers(for: request))
    }

    private func servers(for request: RequestContext) async throws -> [InstallationState.Server] {
        guard let database = installation.database?.serving(request) else { return [] }
        let own = ServerOnDatabase.name(
            host: RecordedSettings.hostName, process: ProcessInfo.processInfo.processIdentifier)
        let names = try await database.serverNotes(at: database.now()).compactMap(\.server?.name)
        return ([own] + Set(names).subtracting([own]).sorted()).map { name in
            InstallationState.Server(name: name, isThis: name == own)
        }
    }

    private func certificateState(in store: any SQLStore) async throws -> InstallationState.Certificate? {
        guard let certificate else { return nil }
        var state = InstallationState.Certificate(validity: certificate.validity)
        guard ordersCertificate else { return state }
        let issued = try await store.issuedCertificate()
        state.authority = issued?.authority
        state.isRenewalRequested = issued?.isRenewalRequested ?? false
        state.failed = try await store.failedOrders().last
        return state
    }

    func findings(for request: RequestContext) async -> [ServerFinding] {
        var findings = ServerFindings()
        let own = recorded.value
        findings.sound("version", "this is version \(Build.version)")
        var serverKeyFile: String?
        switch place {
        case .directory(let path): findings.check(DataDirectoryFiles(path: path), recorded: own)
        case .database(let database): serverKeyFile = database.serverKeyFile
        }
        findings.checkFiles(namedIn: own, onHost: nil, serverKeyFile: serverKeyFile)
        if let validity = certificate?.validity {
            findings.judgeCertificate("the certificate of this server", validFor: validity, now: Date())
        }
        do {
            let bound = try await current(for: request)
            let now = bound.store.now()
            _ = try await findings.checkStore(of: bound, at: now)
            try await findings.checkRecords(of: bound, at: now)
            findings.judgeIssuer(of: bound.recorded, now: now)
        } catch { findings.noteFailure(error) }
        return findings.all
    }

    func serverKeys(for request: RequestContext) async throws -> [ServerKeyState] {
        try await ServerKeyState.all(of: try await current(for: request))
    }

    func export(of user: UserIdentifier, for request: RequestContext) async throws -> UserRecordsExport {
        var bound = installation
        bound.store = bound.store.serving(request)
        guard let name = try await bound.store.usernames(of: [user])[user] else { return .notFound }
        let export = UserExportPages(of: user, named: name, in: bound.store, withEvents: true)
        let file = BoundedFile()
        var writer = UserExportWriter(file.append)
        var position: UserExportPages.Position?
        do {
            repeat {
                let page = try await export.page(at: position, time: bound.store.now())
                try writer.append(AdministrationRecord(try JSONReader.object(page.encoded())))
                position = page.position
            } while position != nil
            try writer.finish()
        } catch is BoundedFile.Full { return .tooLarge }
        return .records(file.bytes)
    }

    func slowFindings(for request: RequestContext) async -> [ServerFinding]? {
        request.noteWait()
        return await check.findings(within: Self.patience) { [self] in await checkSlowly() }
    }

    /// The time for which a request waits for the slow checks: less than ``RequestContext/timeLimit``.
    private static let patience = Duration.seconds(4)

    private func checkSlowly() async -> [ServerFinding] {
        var findings = ServerFindings()
        let own = recorded.value
        do {
            let installation = try await current()
            let store = installation.store
            let now = store.now()
            findings.judgeServerKeys(try await ServerKeyState.all(of: installation))
            if let path = own.endingsJournal {
                findings.judgeJournal(await JournalState(ofFileAt: path, of: store), at: path, now: now)
            }
            let keys = try await store.signingKeys().filter { $0.state(at: now).state == .signing }
            try await findings.checkReach(
                of: installation, by: own, recordedOn: nil, keys: keys, isServed: true, trusting: .system)
        } catch { findings.noteFailure(error) }
        return findings.all
    }

    /// Returns the installation with the settings that are stored now; its store is bound to a request if there is one.
    private func current(for request: RequestContext? = nil) async throws -> Installation {
        var current = installation
        if let request {
            current.store = current.store.serving(request)
            current.database = current.database?.serving(request)
        }
        switch place {
        case .directory(let path): current.recorded = DataDirectory.recordedSettings(in: path)
        case .database:
            if let texts = try await current.database?.recordedSettings() {
                current.recorded = RecordedSettings { texts[$0] }
            }
        }
        return current
    }
}

extension ServerFindings {
    fileprivate mutating func noteFailure(_ error: any Error) {
        fault("store-fails", saying: "\(error)", orElse: "see the log of the server for the cause")
    }
}

extension CurrentCertificate {
    /// The validity; nil if there is no certificate yet.
    fileprivate var validity: DateInterval? {
        let snapshot = snapshot
        guard let start = snapshot.starts, let end = snapshot.expires else { return nil }
        return DateInterval(start: min(start, end), end: end)
    }
}

/// A file in memory whose size is limited.
private final class BoundedFile {
    struct Full: Error {}

    /// The largest size in bytes.
    private static let limit = 16 << 20

    private(set) var bytes: [UInt8] = []

    func append(_ data: Data) throws {
        guard bytes.count + data.count <= Self.limit else { throw Full() }
        bytes += data
    }
}
