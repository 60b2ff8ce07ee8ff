package import CounterfoilStore
package import Foundation
import Logging

extension AuditEvent {
    /// The detail of the event of a test mail that was accepted; the address is not in the log.
    package static let testMailDetail = "sent a test mail"
}

extension MailSender {
    /// Sends a mail at once, without the queue, with which an operator tests the settings.
    ///
    /// - Parameters:
    ///   - recipient: The address that gets the mail.
    ///   - settings: The settings of the server.
    ///   - time: The time of the mail.
    ///   - patience: The time after which the attempt is cut off; nil for none.
    package func sendTest(
        to recipient: EmailAddress, settings: ServerSettings, at time: Date, within patience: Duration? = nil
    ) async -> (mail: OutgoingMail, outcome: MailOutcome) {
        let mail = OutgoingMail(test: recipient, settings: settings, at: time)
        guard let patience else { return (mail, await send(mail)) }
        let outcome = await withTaskGroup(of: MailOutcome.self) { group in
            group.addTask { await send(mail) }
            group.addTask {
                try? await Task.sleep(for: patience)
                return .cancelled
            }
            let first = await group.next() ?? .cancelled
            group.cancelAll()
            return first
        }
        return (mail, outcome)
    }
}

/// The test mails that administrators send from a running server, each at once.
package struct TestMails: Sendable {
    /// The outcome of an attempt.
    package enum Outcome: Sendable, Hashable {
        case attempted(MailIdentifier, MailOutcome)
        /// The party has sent too many, and must wait for some seconds.
        case wait(seconds: Int)
    }

    /// The time after which an attempt is cut off.
    private static let patience = Duration.seconds(10)

    let sender: any MailSender
    let settings: ServerSettings
    let store: any UncachedStore
    let limit: PartyLimiter
    let auditor: Auditor
    let logger: Logger

    /// Sends a mail, and records one that was accepted.
    ///
    /// - Parameters:
    ///   - recipient: The address that gets the mail.
    ///   - party: The party that counts for the limit.
    ///   - request: The request of the party.
    ///   - time: The time of the request.
    ///   - event: The event of a mail that was accepted.
    package func send(
        to recipient: EmailAddress, by party: PartyLimiter.Party, in request: IncomingRequest, at time: Date,
        recording event: AuditEvent
    ) async throws -> Outcome {
        if let seconds = limit.admit(party, at: time) { return .wait(seconds: seconds) }
        request.context.noteWait()
        let (mail, outcome) = await sender.sendTest(
            to: recipient, settings: settings, at: time, within: Self.patience)
        logger.notice(
            "sent a test mail",
            metadata: ["mail": "\(mail.id)", "party": "\(party.identifier)", "request": "\(request.id)"])
        guard outcome == .accepted else { return .attempted(mail.id, outcome) }
        // The mail server may have taken longer than the request had time.
        let context = RequestContext(
            id: request.id, source: request.source, deadline: .now + RequestContext.timeLimit)
        try await store.serving(context).appendAudit(event)
        auditor.countRecorded(event)
        return .attempted(mail.id, outcome)
    }
}

extension ServerComponents {
    /// The test mails of administrators; nil if no mail is set up.
    package var testMails: TestMails? {
        mailSender.map {
            TestMails(
                sender: $0, settings: settings, store: store, limit: serverChecks, auditor: auditor, logger: logger)
        }
    }
}
