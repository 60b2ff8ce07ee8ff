import CounterfoilSQLite
import CounterfoilServer
import CounterfoilTokens
import CounterfoilWeb
import Foundation

extension ServerFindings {
    /// The difference of clocks in seconds that is worth a note.
    private static let clockNote: TimeInterval = 5
    /// The difference of clocks in seconds with which clients refuse tokens.
    static let clockFault: TimeInterval = 60
    /// The age in seconds of a notification that the server should have delivered or given up.
    private static let noticeAge: TimeInterval = 3600

    /// Checks the store in a data directory, and the server at its issuer.
    ///
    /// A store of another version is not changed.
    mutating func check(directory path: String, trusting authorities: OutboundAuthorities) async {
        let files = DataDirectoryFiles(path: path)
        guard files.state(of: "counterfoil.db") != nil else { return }
        let installation: Installation
        do { installation = try DataDirectory(existing: path).installation } catch let failure as CommandFailure {
            return fault("store-unusable", failure.message, mend: "see the message above")
        } catch {
            return fault("store-unusable", "\(error)", mend: "run this command as the user of the server")
        }
        await check(installation, trusting: authorities)
    }

    /// Checks the store in a database, and the server at its issuer.
    mutating func check(database: Database, trusting authorities: OutboundAuthorities) async {
        do { await check(try await database.open(), trusting: authorities) } catch let failure as CommandFailure {
            fault("store-unusable", failure.message, mend: "see the message above")
        } catch {
            fault("store-unusable", "\(error)", mend: "check --database and the rights of its user")
        }
    }

    private mutating func check(_ installation: Installation, trusting authorities: OutboundAuthorities) async {
        do {
            try await KeyRing.check(installation.store, serverKey: installation.serverKey)
            sound("store", "the store answers, has the tables of this version, and belongs to this server key")
            checkClock(of: installation.store)
            let keys = try await checkKeys(of: installation.store)
            try await checkNotices(of: installation.store)
            await checkIssuer(installation.noted.issuer, keys: keys, trusting: authorities)
        } catch {
            fault("store-fails", "\(error)", mend: "see the log of the server for the cause")
        }
        await installation.store.close()
    }

    private mutating func checkClock(of store: any StoreClock) {
        let difference = store.now().timeIntervalSince(Date())
        let text = "the clock of the store and that of this machine differ by \(Self.seconds(difference))"
        if abs(difference) > Self.clockFault {
            fault("store-clock", text, mend: "set the clocks of the machines by NTP; the server goes by the store")
        } else if abs(difference) > Self.clockNote {
            advise("store-clock", text, mend: "set the clocks of the machines by NTP")
        } else {
            sound("store-clock", text)
        }
    }

    /// Checks the age of the signing keys; returns the identifiers of the keys that sign.
    private mutating func checkKeys(of store: any SigningKeyStore & StoreClock) async throws -> [String] {
        let now = store.now()
        let signing = try await store.signingKeys().filter { $0.state(at: now).state == .signing }
        guard !signing.isEmpty else {
            advise(
                "keys-missing", "there are no signing keys", mend: "start counterfoil-server serve, which creates them")
            return []
        }
        let ages = signing.map { Int(now.timeIntervalSince($0.signsFrom) / 86_400) }
        let text = "the oldest of \(signing.count) signing keys has signed for \(ages.max() ?? 0) days"
        // The server rotates keys by itself, within a day.
        if (ages.max() ?? 0) > SigningKeyLifecycle.standardLifetime + 7 {
            advise(
                "keys-old", text,
                mend: "unless --key-lifetime is longer, see the log for failures of the rotation, or run key rotate")
        } else {
            sound("keys", text)
        }
        return signing.map(\.id.rawValue)
    }

    private mutating func checkNotices(of store: any LogoutDeliveryStore & StoreClock) async throws {
        let backlog = try await store.logoutBacklog()
        if let oldest = backlog.oldest, store.now().timeIntervalSince(oldest) > Self.noticeAge {
            advise(
                "notices-waiting",
                "\(backlog.count) back-channel logout notifications wait, the oldest since \(Moment.text(oldest))",
                mend: "see the log for the clients that do not answer")
        } else {
            sound("notices", "\(backlog.count) back-channel logout notifications wait")
        }
    }

    static func seconds(_ difference: TimeInterval) -> String {
        let tenths = (abs(difference) * 10).rounded() / 10
        return "\(tenths) s"
    }
}
