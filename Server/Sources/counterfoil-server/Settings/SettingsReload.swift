import ArgumentParser
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilWeb
import HTTPListener
import Logging
import ServiceLifecycle
import UnixSignals

/// The reader of the settings of a running server, which reads the settings file again.
final class SettingsReload: Sendable {
    private let readAgain: @Sendable () throws(CommandFailure) -> ServeConfiguration
    /// The settings in use: those of the start, with what has changed since then.
    private let used: Mutex<[String: SettingTexts.Value]>
    /// The last settings that were read, whose lines are those of the file.
    private let last: Mutex<SettingTexts>

    /// - Parameters:
    ///   - configuration: The settings of the start.
    ///   - readAgain: The function that reads and checks all settings again.
    init(
        _ configuration: ServeConfiguration,
        readAgain: @escaping @Sendable () throws(CommandFailure) -> ServeConfiguration
    ) {
        self.readAgain = readAgain
        used = Mutex(configuration.values.texts.values)
        last = Mutex(configuration.values.texts)
    }

    /// Returns a message of the running server with the places that set the settings in it.
    var words: SettingMessageRenderer { { [self] message in last.withLock(\.self).words(message) } }

    /// Returns the settings in use, in the groups of the help, with the places that set them.
    func reported(_ environment: [String: String]) -> [ReportedSettings] {
        let (used, last) = (used.withLock(\.self), last.withLock(\.self))
        return [ReportedSettings](environment) { setting in
            let (own, read) = (used[setting.name], last.values[setting.name])
            let waits = own?.texts != read?.texts
            // The line of an unchanged setting is that of the file now.
            return ReportedSetting(setting, waits ? own : read, path: last.path, waitsForRestart: waits)
        }
    }

    /// The settings that were read again.
    struct Reading {
        let configuration: ServeConfiguration
        /// The names of the settings that have changed and that the running server can change.
        let changed: [String]
        /// The names of those that have changed and need a restart.
        let waiting: [String]
    }

    /// Reads the settings and validates all of them.
    func read() throws(CommandFailure) -> Reading {
        let configuration = try readAgain()
        let texts = configuration.values.texts
        last.withLock { $0 = texts }
        let used = used.withLock(\.self)
        let different = Settings.all.filter { used[$0.name]?.texts != texts.values[$0.name]?.texts }
        // The listener speaks TLS from its start on, or never.
        let certificate = Settings.tlsCertificate.name
        let startsOrEndsTLS = (used[certificate] == nil) != (texts.values[certificate] == nil)
        let needRestart = startsOrEndsTLS ? [certificate, Settings.tlsKey.name] : []
        let live = different.filter { $0.isLive && !needRestart.contains($0.name) }.map(\.name)
        return Reading(
            configuration: configuration, changed: live,
            waiting: different.map(\.name).filter { !live.contains($0) })
    }

    /// Notes that the server uses the live settings of a reading.
    func note(_ reading: Reading) {
        used.withLock { used in
            for name in reading.changed { used[name] = reading.configuration.values.texts.values[name] }
        }
    }
}

/// The parts of a running server that change with its settings.
struct LiveParts: Sendable {
    let server: AuthorizationServer
    let connections: OpenConnections
    let reservedDescriptors: Int
    let renewal: CertificateRenewal?
    let log: CurrentLogLevel
    /// The settings that administration commands need, as they were stored last.
    let recorded: SharedValue<RecordedSettings>
    /// Stores the settings that administration commands need.
    let note: @Sendable (RecordedSettings) async throws -> Void
    /// The service that compares the settings with those of other servers; nil if there can be none.
    let comparison: SettingsComparison?
    let logger: Logger

    /// Applies settings.
    ///
    /// Everything that can fail comes first, so that an error changes nothing.
    func apply(_ reading: SettingsReload.Reading) async throws {
        let configuration = reading.configuration
        let settings = try configuration.settingsWithKeys().keepingOrigins(of: server.settings)
        let limits = ConnectionLimits(total: configuration[Settings.connections])
        let isLimited = reading.changed.contains("connections")
        let connectionLimits =
            isLimited
            ? try RunningServer.limits(limits, reserving: reservedDescriptors, logger: logger) : connections.limits
        var replacement: (CertificateFiles, CertificateFiles.Stamp, ServerCertificate)?
        // Settings without the files need a restart. Files in the state in which they were read change nothing.
        if let renewal, var files = configuration.certificateFiles {
            // The origin for callbacks is that of the start.
            files.hosts = ServeConfiguration.hosts(of: settings)
            if renewal.isNew(files) {
                replacement = (files, files.stamp, try await files.load(configuration.words))
            }
        }
        var files = recorded.value.files
        if let (used, _, _) = replacement { files[.tlsKey] = used.keyPath }
        files[.externalSignInKeys] = configuration.files[.externalSignInKeys]
        let newlyRecorded = RecordedSettings(
            settings, connections: limits.total, sendsMail: recorded.value.sendsMail == true, files: files)
        if newlyRecorded != recorded.value {
            try await note(newlyRecorded)
            recorded.change { $0 = newlyRecorded }
        }

        server.replaceSettings(by: settings)
        await comparison?.compare()
        connections.change(limits: connectionLimits, trustedProxies: configuration[Settings.trustedProxies])
        log.value = configuration[Settings.logLevel]
        if let renewal, let (files, stamp, certificate) = replacement {
            renewal.use(files, in: stamp, with: certificate)
        } else {
            await renewal?.look()
        }
    }
}

/// The service that reads the settings and the certificate of a running server again on SIGHUP.
///
/// Settings with a mistake change nothing. The certificate is read again in each case.
struct HangUpService: Service {
    let signals: UnixSignalsSequence
    /// The reader of the settings; nil if only the certificate can change.
    let reload: SettingsReload?
    let renewal: CertificateRenewal?
    let manager: ServiceManager
    let logger: Logger
    /// Returns the parts of the server; nil while its store is not open.
    let parts: @Sendable () -> LiveParts?
    /// Waits until the store is open; returns false if the server stops before.
    let opening: @Sendable () async -> Bool

    func run() async throws {
        await cancelWhenGracefulShutdown {
            // Readings never overlap, whether a signal or the opening of the store causes them.
            let (causes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            await withTaskGroup(of: Void.self) { group in
                group.addTask { [signals] in
                    for await _ in signals { continuation.yield() }
                    continuation.finish()
                }
                var isWaiting = false
                for await _ in causes {
                    let isRead = await manager.reloading { await readAgain() }
                    guard !isRead, !isWaiting else { continue }
                    isWaiting = true
                    group.addTask { [opening] in
                        if await opening() { continuation.yield() }
                    }
                }
                group.cancelAll()
            }
        }
    }

    /// Reads the settings and the certificate; returns false if the settings have to wait for the store.
    private func readAgain() async -> Bool {
        guard let reload else {
            await renewal?.look()
            return true
        }
        guard let parts = parts() else {
            logger.notice("the settings are read again when the store is open")
            await renewal?.look()
            return false
        }
        do {
            let reading = try reload.read()
            try await parts.apply(reading)
            reload.note(reading)
            let changed = reading.changed.isEmpty ? "nothing" : reading.changed.joined(separator: ", ")
            logger.notice("read the settings again", metadata: ["changed": "\(changed)"])
            guard !reading.waiting.isEmpty else { return true }
            logger.warning(
                "settings have changed that need a restart",
                metadata: ["settings": "\(reading.waiting.joined(separator: ", "))"])
        } catch {
            parts.server.noteRefusedSettings()
            logger.error(
                "refused the new settings; the former ones stay in use",
                metadata: ["error": "\((error as? CommandFailure)?.message ?? "\(error)")"])
            await renewal?.look()
        }
        return true
    }
}
