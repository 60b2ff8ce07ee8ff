import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilServer
import CounterfoilStore
import Foundation
import Logging

/// The endings of a journal that its store lacked, and that a server has ended again.
struct ReplayedEndings: Sendable {
    let report: RestoreReport
    /// Whether the store can lack other endings, of which the journal does not know.
    let canLackOthers: Bool
    /// The path of the journal.
    let path: String

    /// The accounts that an administrator has to look at.
    private var accounts: [(username: String, detail: String)] {
        report.withoutPassword.map { ($0, "the password had been changed or removed, so the account has none now") }
            + report.withoutSecondFactor.map {
                ($0, "the second factor had been set up or replaced, so it is missing now")
            }
            + report.withoutWayIn.map {
                ($0, "the account has no password, no passkey and no identity elsewhere now")
            }
            + report.disabled.map { ($0, "the account had been disabled, and is so again") }
            + report.demoted.map { ($0, "the role had been changed, and is withdrawn") }
            + report.withoutAttributes.map { ($0, "groups or attributes had been changed, and are missing now") }
            + report.keptOwners.map { ($0, "the last owner had been deleted, and is disabled now") }
    }

    /// Returns the events for the audit log: one about the store, and one for each account.
    func events(in store: any SQLStore) async throws(StoreFault) -> [AuditEvent] {
        let start = "the store lacked endings of its journal; "
        var events = [AuditEvent(at: store.now(), .setting, detail: start + "ended \(report.endings) again")]
        for account in accounts {
            guard let username = Username(account.username), let user = try await store.user(named: username)
            else { continue }
            events.append(AuditEvent(at: store.now(), .setting, userID: user.id, detail: start + account.detail))
        }
        return events
    }

    /// Logs what was ended, and what an operator has to do.
    func log(to logger: Logger) {
        var metadata: Logger.Metadata = ["journal": "\(path)", "endings": "\(report.endings)"]
        if !accounts.isEmpty { metadata["accounts"] = "\(accounts.count), see audit list --kind setting" }
        func list(_ names: [String], as key: String) {
            if !names.isEmpty { metadata[key] = "\(names.joined(separator: " "))" }
        }
        list(report.suspendedClients, as: "suspended_apps")
        list(report.changedClients, as: "former_apps")
        list(report.changedAPIs, as: "former_apis")
        if report.hasFormerPolicy { metadata["former_policy"] = "unregistered apps" }
        logger.error("ended again what the database lacked of the endings journal", metadata: metadata)
        if canLackOthers {
            logger.error(
                "the database can lack endings that its journal does not have",
                metadata: ["advice": "stop every server, and run after-restore with the journals of all servers"])
        }
    }
}
