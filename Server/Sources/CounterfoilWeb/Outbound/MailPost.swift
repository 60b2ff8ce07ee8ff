import CounterfoilPages
public import CounterfoilServer
import CounterfoilStore
import Foundation
package import MailTransport

/// Renders mails, and submits them to a mail server or to a program.
public struct MailPost: MailSender {
    private let sender: MailAddress
    private let submission: any MailSubmission
    private let renderer: Result<PageRenderer, any Error>

    /// Creates the sender of mails from an address.
    package init(from sender: MailAddress, by submission: any MailSubmission) {
        self.sender = sender
        self.submission = submission
        renderer = Result { try PageRenderer() }
    }

    /// Sends a mail once, without a retry.
    public func send(_ mail: OutgoingMail) async -> MailOutcome {
        let message: MailMessage
        do { message = try self.message(mail) } catch { return .failed("cannot write the mail: \(error)") }
        return switch await submission.submit(message) {
        case .accepted: .accepted
        case .cancelled: .cancelled
        case .failed(let failure): .failed("\(failure)")
        case .refused(let reply): .refused("refused by the mail server (\(reply))", reply: reply.text)
        }
    }

    /// An address or an identifier that no mail can have, although the server has accepted it.
    private struct Malformed: Error {}

    private func message(_ mail: OutgoingMail) throws -> MailMessage {
        guard let recipient = MailAddress(mail.recipient.rawValue), let id = MessageID(mail.id.rawValue, at: sender)
        else { throw Malformed() }
        return MailMessage(
            id: id, sender: sender, senderName: HeaderText(mail.frame.site.name.description), recipient: recipient,
            subject: HeaderText(mail.page.subject), date: mail.createdAt,
            language: HeaderText(mail.frame.language.rawValue), plainText: mail.page.plainText,
            html: String(decoding: try renderer.get().render(mail.page, in: mail.frame), as: UTF8.self))
    }
}
