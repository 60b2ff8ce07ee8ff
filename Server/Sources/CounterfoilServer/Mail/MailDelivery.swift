import CounterfoilProtocol
import CounterfoilStore
package import Foundation
import Logging

/// The service that sends the queued mails.
///
/// If several processes share one store, each mail is sent by only one of them at a time. A mail is sent a second time
/// only if the process does not get the answer of the mail server, or ends before it notes the answer in the store. It
/// then has the same `Message-ID`.
public struct MailDelivery: Sendable {
    /// The maximum number of mails that are sent at once.
    private static let width = 4
    /// The number of seconds for which only the process that has taken a mail may send it; an attempt takes less,
    /// although a mail server has 10 minutes for its answer.
    package static let lease: TimeInterval = 900
    /// The interval between two checks for due mails.
    private static let rest = Duration.seconds(2)

    let settings: CurrentSettings
    let registry: CachedRegistry
    let store: any MailStore
    let serverKey: ServerKey
    let sender: any MailSender
    let metrics: ServerMetrics
    let logger: Logger
    let clock: @Sendable () -> Date

    /// Sends mails until its task is cancelled.
    ///
    /// A mail for which the mail server takes long delays no other one, until as many of them do as it sends at once.
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            // It counts those that have ended until the group has returned them.
            var running = 0
            while !Task.isCancelled {
                let due = await take(atMost: Self.width - running)
                for mail in due { group.addTask { await deliver(mail) } }
                running += due.count
                if running == Self.width {
                    await group.next()
                    running -= 1
                } else {
                    try? await Task.sleep(for: Self.rest)
                }
            }
        }
    }

    /// Sends the due mails, as many as are sent at once; returns their number.
    @discardableResult
    package func deliverDue() async -> Int {
        let due = await take(atMost: Self.width)
        await withDiscardingTaskGroup { group in
            for mail in due { group.addTask { await deliver(mail) } }
        }
        return due.count
    }

    private func take(atMost limit: Int) async -> [QueuedMail] {
        let now = clock()
        do {
            return try await store.takeMails(dueAt: now, until: now.addingTimeInterval(Self.lease), limit: limit)
        } catch {
            logger.error("failed to read queued mails", metadata: ["error": "\(error)"])
            return []
        }
    }

    private func deliver(_ queued: QueuedMail) async {
        do {
            let outcome = try await attempt(queued.mail)
            let settlement = MailRetries.settlement(of: queued, after: outcome, now: clock())
            note(outcome, of: queued, isGivenUp: settlement == nil)
            try await store.settleMail(queued, settlement ?? .done)
        } catch {
            logger.error(
                "failed to process a queued mail", metadata: ["mail": "\(queued.mail.id)", "error": "\(error)"])
        }
    }

    /// Sends a mail once.
    ///
    /// A mail that this server cannot read is kept until it expires: another server can have the key or the version.
    private func attempt(_ mail: NewMail) async throws(StoreFault) -> MailOutcome {
        guard clock() < mail.expires else { return .failed("the mail has expired") }
        guard let written = try await written(mail) else {
            return .failed(
                "the mail cannot be read; it needs a server key that is not listed, or a newer version of the server")
        }
        return await sender.send(written)
    }

    /// Writes a mail with the branding of now; nil if its contents cannot be read.
    private func written(_ mail: NewMail) async throws(StoreFault) -> OutgoingMail? {
        guard let opened = OpenedMail(mail, with: serverKey) else { return nil }
        let settings = settings.value
        let branding = try await registry.fresh().branding()
        let site = Site(branding, settings: settings, language: opened.language)
        let link = opened.secret.map { settings.issuer.endpoint(MailContents.linkPath) + "?token=" + $0 }
        return OutgoingMail(
            id: mail.id, to: opened.recipient, createdAt: mail.createdAt,
            page: MailPage(
                opened.kind, link: link, about: mail.createdAt, by: opened.origin, in: Localizer(opened.language),
                from: site, issuer: settings.issuer),
            frame: Frame(site: site, language: opened.language))
    }

    /// Counts and logs an attempt; the log contains no address.
    private func note(_ outcome: MailOutcome, of queued: QueuedMail, isGivenUp: Bool) {
        let reason: String
        switch outcome {
        case .accepted: return metrics.count(.mailSent)
        case .cancelled: return
        case .failed(let text), .refused(let text, _): reason = text
        }
        metrics.count(.mailFailed)
        if isGivenUp { metrics.count(.mailGivenUp) }
        logger.notice(
            "failed to send a mail, \(isGivenUp ? "giving up" : "will retry")",
            metadata: [
                "mail": "\(queued.mail.id)", "user": "\(queued.mail.userID)", "attempt": "\(queued.attempts + 1)",
                "reason": "\(reason)",
            ])
    }
}
