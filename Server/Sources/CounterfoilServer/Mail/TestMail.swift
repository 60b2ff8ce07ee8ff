package import CounterfoilStore
package import Foundation

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
