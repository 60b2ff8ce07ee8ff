import CounterfoilServer
import CounterfoilStore
import Foundation

/// The search for what wants the attention of an administrator, as far as the store and the program of the server know
/// it.
struct Attention {
    /// The age in seconds of a backup that is called old, of the oldest mail that waits, and of events without a seal:
    /// those of the alerts.
    private static let backupAge: TimeInterval = 2 * 86_400
    private static let mailAge: TimeInterval = 1800
    private static let sealAge: TimeInterval = 900
    /// The part of the validity of a certificate below which its renewal must have failed, as in the alert.
    private static let certificateRest = 0.25

    let console: Console
    let exchange: Console.Exchange
    /// The state of the installation; nil if it is not known.
    let installation: InstallationState?
    /// The time zone of times.
    let zone: TimeZone

    private var now: Date { exchange.now }

    /// Returns the findings that the user may know, the most urgent first.
    ///
    /// - Parameters:
    ///   - clients: The numbers of clients.
    ///   - isNew: Whether the page has the steps of a new server, of which one is a backup.
    func all(clients: ClientCounts, isNew: Bool) async throws -> [OverviewPage.Attention] {
        var all: [OverviewPage.Attention] = []
        if exchange.user.may(.readServer) {
            if let certificate = installation?.certificate?.validity { all += note(certificate) }
            all += note(installation?.backup ?? .unknown, isNew: isNew)
            if console.mails != nil { all += note(try await console.store.mailBacklog()) }
        }
        if exchange.user.may(.readAudit) { all += note(unsealedSince: try await console.store.unsealedSince()) }
        if exchange.user.may(.readClients) { all += note(clients) }
        return all.filter(\.isUrgent) + all.filter { !$0.isUrgent }
    }

    private func note(_ certificate: DateInterval) -> [OverviewPage.Attention] {
        let rest = certificate.end.timeIntervalSince(now)
        guard rest < certificate.duration * Self.certificateRest else { return [] }
        return [
            attention(
                rest > 0 ? OverviewMessage.certificateEnds : .certificateEnded, ["time": moment(certificate.end)],
                isUrgent: true, at: console.path(.certificate), named: .certificate)
        ]
    }

    private func note(_ backup: InstallationState.Backup, isNew: Bool) -> [OverviewPage.Attention] {
        switch backup {
        case .unknown: return []
        case .never: return isNew ? [] : [attention(OverviewMessage.backupNever, isUrgent: true)]
        case .made(let time):
            guard now.timeIntervalSince(time) > Self.backupAge else { return [] }
            return [attention(OverviewMessage.backupOld, ["time": moment(time)], isUrgent: true)]
        }
    }

    private func note(_ mails: MailBacklog) -> [OverviewPage.Attention] {
        guard let oldest = mails.oldest, now.timeIntervalSince(oldest) > Self.mailAge else { return [] }
        let maySend = console.testMails != nil && exchange.user.may(.writeServer)
        return [
            attention(
                OverviewMessage.mailsWait, ["count": .number(mails.count), "time": moment(oldest)], isUrgent: true,
                at: maySend ? console.path(.testMail) : nil, named: maySend ? .testMail : nil)
        ]
    }

    private func note(unsealedSince time: Date?) -> [OverviewPage.Attention] {
        guard let time, now.timeIntervalSince(time) > Self.sealAge else { return [] }
        return [
            attention(
                OverviewMessage.sealsLate, ["time": moment(time)], isUrgent: true, at: console.path(.audit),
                named: .audit)
        ]
    }

    private func note(_ clients: ClientCounts) -> [OverviewPage.Attention] {
        clients.waiting.map { waiting in
            attention(
                waiting.message, ["count": .number(waiting.count)], isUrgent: false,
                at: ClientFilter.path(of: console.path(.administration), in: waiting.state), named: .apps)
        }
    }

    private func attention(
        _ message: some LocalizationKey, _ values: [String: LocalizedText.Value] = [:], isUrgent: Bool,
        at path: String? = nil, named name: OverviewMessage? = nil
    ) -> OverviewPage.Attention {
        OverviewPage.Attention(
            text: exchange.words(LocalizedText(message, values)), isUrgent: isUrgent, path: path,
            pathName: name.map { exchange.words($0) })
    }

    private func moment(_ time: Date) -> LocalizedText.Value {
        .text(exchange.words.minute(time, in: zone))
    }
}
