import CounterfoilPostgreSQL
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import Logging
import ServiceLifecycle

/// The service that compares the settings of this server with those of the other servers on its database.
///
/// Each server notes its settings in the database at its start, after SIGHUP and every half a minute, and removes them
/// when it stops.
final class SettingsComparison: Service {
    private let store: PostgreSQLStore
    private let serverKey: ServerKey
    private let settings: @Sendable () -> ServerSettings
    private let logger: Logger
    /// The random name of this process in the database.
    private let name = UUID().uuidString
    private let watch = Mutex(DifferenceWatch())

    /// The time between two comparisons, of which three fit into the lifetime of a note.
    private static let interval = Duration.seconds(30)

    init(
        store: PostgreSQLStore, serverKey: ServerKey, settings: @escaping @Sendable () -> ServerSettings, logger: Logger
    ) {
        self.store = store
        self.serverKey = serverKey
        self.settings = settings
        self.logger = logger
    }

    /// The number of settings that have not the same value at every server.
    var count: Int { watch.withLock(\.differences.count) }

    func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            while !Task.isCancelled {
                await compare()
                do { try await Task.sleep(for: Self.interval) } catch { return }
            }
        }
        try? await store.removeNote(of: name)
    }

    /// Notes the settings in use, and compares them with those of the other servers.
    ///
    /// If the store does not answer, which the heartbeat logs, the result of the last comparison stays.
    func compare() async {
        let this = ServerOnDatabase(
            host: RecordedSettings.hostName, process: ProcessInfo.processInfo.processIdentifier,
            settings: SharedSettings(settings(), serverKey: serverKey).texts)
        guard let text = try? JSONEncoder().encode(this) else { return }
        let (now, fingerprints) = (store.now(), serverKey.fingerprints)
        let others = try? await store.exchangeNotes(
            ServerNote(server: name, text: String(decoding: text, as: UTF8.self)), rewriting: ServerKeyUses.name,
            at: now
        ) { stored in
            var uses = ServerKeyUses(stored)
            uses.note(fingerprints, at: now)
            return uses.text
        }
        guard let others else { return }
        let differences = SettingDifference.all(among: [this] + others.compactMap(\.server))
        guard let report = watch.withLock({ $0.note(differences, at: .now) }) else { return }
        let metadata: Logger.Metadata = [
            "settings": "\(differences.map(\.setting).joined(separator: ", "))",
            "values": "\(differences.map(\.text).joined(separator: " | "))",
        ]
        switch report {
        case .differ: logger.notice("the servers on the database have different settings", metadata: metadata)
        case .stillDiffer: logger.warning("the servers on the database have different settings", metadata: metadata)
        case .agree: logger.notice("the servers on the database have the same settings again")
        }
    }
}

extension ServerNote {
    /// The server and its settings; nil in a note that this version cannot read.
    var server: ServerOnDatabase? { try? JSONDecoder().decode(ServerOnDatabase.self, from: Data(text.utf8)) }
}

/// The differences of the settings of several servers over time, and when to log them.
///
/// While settings are changed server by server, they differ for a moment. So the beginning is a notice, and a warning
/// follows if the difference lasts.
struct DifferenceWatch {
    /// What to log.
    enum Report: Hashable {
        case differ
        /// The difference has lasted for too long.
        case stillDiffer
        case agree
    }

    /// The time for which servers may differ while settings are changed.
    static let patience = Duration.seconds(300)

    private(set) var differences: [SettingDifference] = []
    private var began: ContinuousClock.Instant?
    private var isWarned = false

    /// Notes the result of a comparison; returns what to log, or nil.
    mutating func note(_ found: [SettingDifference], at now: ContinuousClock.Instant) -> Report? {
        let isChanged = found.map(\.values) != differences.map(\.values)
        differences = found
        guard !found.isEmpty else {
            defer { (began, isWarned) = (nil, false) }
            return began == nil ? nil : .agree
        }
        let start = began ?? now
        began = start
        if start.duration(to: now) >= Self.patience {
            defer { isWarned = true }
            return isWarned && !isChanged ? nil : .stillDiffer
        }
        return isChanged ? .differ : nil
    }
}
