import CounterfoilPostgreSQL
import CounterfoilSQL
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import CounterfoilWeb
import Foundation

extension ServerFindings {
    /// The difference of clocks in seconds that is worth a note.
    private static let clockNote: TimeInterval = 5
    /// The difference of clocks in seconds with which clients refuse tokens.
    static let clockFault: TimeInterval = 60
    /// The age in seconds of a notification that the server should have delivered or given up.
    private static let noticeAge: TimeInterval = 3600
    /// The time in seconds for which a webhook can fail: a day.
    private static let webhookAge: TimeInterval = 86_400
    /// The age in seconds of events that a server should have sealed, as in the alert.
    private static let sealAge: TimeInterval = 900

    /// Checks the store in a data directory, and the server at its issuer.
    ///
    /// A store of another version is not changed.
    mutating func check(directory path: String, trusting authorities: OutboundAuthorities) async {
        // Any other state is a finding of the files.
        guard case .database = DataDirectoryState(of: path) else { return }
        guard geteuid() != 0 || !all.contains(where: { $0.topic == "directory-writable" }) else { return }
        let remedy = "run this command as the user of the server"
        let installation: Installation
        do { installation = try DataDirectory(existing: path).installation } catch let failure as CommandFailure {
            return fault("store-unusable", saying: failure.message, orElse: remedy)
        } catch {
            return fault("store-unusable", "\(error)", mend: remedy)
        }
        await check(installation, in: DataDirectoryFiles(path: path), serverKeyFile: nil, trusting: authorities)
    }

    /// Checks the store in a database, and the server at its issuer.
    mutating func check(database: Database, trusting authorities: OutboundAuthorities) async {
        let remedy = "check --database and the rights of its user"
        do {
            await check(
                try await database.open(checkingKeyMode: false), in: nil, serverKeyFile: database.serverKeyFile,
                trusting: authorities)
        } catch let failure as CommandFailure {
            fault("store-unusable", saying: failure.message, orElse: remedy)
        } catch {
            fault("store-unusable", "\(error)", mend: remedy)
        }
    }

    /// - Parameter files: The files of the data directory; nil for a database, which servers of several hosts share.
    private mutating func check(
        _ installation: Installation, in files: DataDirectoryFiles?, serverKeyFile: String?,
        trusting authorities: OutboundAuthorities
    ) async {
        let store = installation.store
        if let settings { judgeSettings(settings, inUse: installation.recorded) }
        // Those of the file are the settings of this machine.
        let recorded = settings ?? installation.recorded
        let host = files == nil ? recorded.host.flatMap { $0 == RecordedSettings.hostName ? nil : $0 } : nil
        checkFiles(namedIn: recorded, onHost: host, serverKeyFile: serverKeyFile)
        do {
            let now = store.now()
            let keys = try await checkStore(of: installation, at: now)
            judgeServerKeys(try await ServerKeyState.all(of: installation))
            try await checkRecords(of: installation, at: now)
            if host == nil, let path = recorded.endingsJournal {
                judgeJournal(await JournalState(ofFileAt: path, of: store), at: path, now: now)
            }
            judgeIssuer(of: installation.recorded, now: now)
            let isServed: Bool? = if let files { files.isServed } else { try await store.isServed() }
            try await checkReach(
                of: installation, by: recorded, recordedOn: host, keys: keys, isServed: isServed, trusting: authorities)
        } catch let refusal as UnfinishedRestore {
            fault("restore-incomplete", saying: "\(refusal)", orElse: "run after-restore")
        } catch {
            fault("store-fails", saying: "\(error)", orElse: "see the log of the server for the cause")
        }
        await store.close()
    }

    /// Checks that the store belongs to this version and to the server key, its clock, and the age of the signing keys.
    ///
    /// - Returns: The keys that sign.
    mutating func checkStore(of installation: Installation, at now: Date) async throws -> [SealedSigningKey] {
        let store = installation.store
        try await KeyRing.check(store, serverKey: installation.serverKey)
        try await store.checkRestored()
        sound("store", "the store answers, has the tables of this version, and belongs to this server key")
        let versions = try await store.versions()
        sound("store-version", "\(versions)")
        judgeStoreClock(differingBy: now.timeIntervalSince(Date()))
        let keys = try await store.signingKeys().filter { $0.state(at: now).state == .signing }
        judgeKeys(signingSince: keys.map(\.signsFrom), now: now)
        return keys
    }

    /// Checks the servers on the store, its space, and what waits in it.
    mutating func checkRecords(of installation: Installation, at now: Date) async throws {
        let store = installation.store
        if let database = installation.database {
            judgeServers(try await database.serverNotes(at: now).compactMap(\.server))
        }
        judgeSpace(try await store.space())
        let backlog = try await store.logoutBacklog()
        judgeNotices(backlog.count, oldest: backlog.oldest, now: now)
        judgeWebhooks(try await store.webhookProgress(), now: now)
        judgeSeals(unsealedSince: try await store.unsealedSince(), now: now)
    }

    /// Checks the server as clients reach it, with the metadata by the store and its settings.
    mutating func checkReach(
        of installation: Installation, by recorded: RecordedSettings, recordedOn host: String?,
        keys: [SealedSigningKey], isServed: Bool?, trusting authorities: OutboundAuthorities
    ) async throws {
        let expected: [UInt8]? =
            if let settings = recorded.ofMetadata {
                try await MetadataDocument.served(by: settings, on: installation.store)
            } else { nil }
        await checkIssuer(
            recorded.issuer, keys: keys.map(\.id.rawValue), metadata: expected, recordedOn: host, isServed: isServed,
            serverKey: installation.serverKey, trusting: authorities)
        if let page = recorded.externalSignIn { await checkSignInPage(page, trusting: authorities) }
    }

    private mutating func judgeStoreClock(differingBy difference: TimeInterval) {
        let text = "the clock of the store and that of this machine differ by \(Self.seconds(difference))"
        if abs(difference) > Self.clockFault {
            fault("store-clock", text, mend: "set the clocks of the machines by NTP; the server goes by the store")
        } else if abs(difference) > Self.clockNote {
            advise("store-clock", text, mend: "set the clocks of the machines by NTP")
        } else {
            sound("store-clock", text)
        }
    }

    /// Judges the age of the signing keys.
    ///
    /// - Parameter times: The times since which the current keys sign.
    mutating func judgeKeys(signingSince times: [Date], now: Date) {
        guard let oldest = times.min() else {
            return advise(
                "keys-missing", "there are no signing keys", mend: "start counterfoil-server serve, which creates them")
        }
        let age = Int(now.timeIntervalSince(oldest) / 86_400)
        let text = "the oldest of \(times.count) signing keys has signed for \(age) days"
        // The server rotates keys by itself, within a day.
        if age > ServerSettings.standardKeyLifetime + 7 {
            advise(
                "keys-old", text,
                mend: "unless --key-lifetime is longer, see the log for failures of the rotation, or run key rotate")
        } else {
            sound("keys", text)
        }
    }

    /// Judges the back-channel logout notifications that wait.
    mutating func judgeNotices(_ count: Int, oldest: Date?, now: Date) {
        if let oldest, now.timeIntervalSince(oldest) > Self.noticeAge {
            advise(
                "notices-waiting",
                "\(count) back-channel logout notifications wait, the oldest since \(Moment.text(oldest))",
                mend: "see the log for the clients that do not answer")
        } else {
            sound("notices", "\(count) back-channel logout notifications wait")
        }
    }

    /// Judges the webhooks: those that the server has disabled, and one that has failed for a day.
    mutating func judgeWebhooks(_ progress: WebhookProgress, now: Date) {
        let disabled = (progress.states[.gone] ?? 0) + (progress.states[.failing] ?? 0)
        if disabled > 0 {
            advise(
                "webhooks-disabled", "the server has disabled webhooks, \(disabled) in number",
                mend:
                    "see counterfoil-server webhook list; correct the receivers and run webhook resume, or delete them")
        }
        if let since = progress.failingSince, now.timeIntervalSince(since) > Self.webhookAge {
            advise(
                "webhooks-failing", "a webhook has accepted no event since \(Moment.text(since))",
                mend: "see counterfoil-server webhook list, and webhook show for the answers of the receiver")
        }
    }

    /// Judges the time since which events of the audit log can be without a seal; nil if the log is empty.
    mutating func judgeSeals(unsealedSince time: Date?, now: Date) {
        guard let time else { return sound("seals", "the audit log has no event to seal") }
        if now.timeIntervalSince(time) > Self.sealAge {
            advise(
                "seals-late", "no server has sealed the audit log since \(Moment.text(time))",
                mend: "start the server, or search its log for maintenance failed; then run counterfoil-server audit "
                    + "verify")
        } else {
            sound("seals", "every event of the audit log until \(Moment.text(time)) is sealed")
        }
    }

    static func seconds(_ difference: TimeInterval) -> String {
        let tenths = (abs(difference) * 10).rounded() / 10
        return "\(tenths) s"
    }
}
