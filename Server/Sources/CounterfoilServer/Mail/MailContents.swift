import CounterfoilProtocol
import CounterfoilStore
import Foundation

/// The stored contents of a mail, encrypted with the server key, so that no copy of the database contains a link.
struct MailContents: Codable, Hashable {
    /// The time in seconds for which the link in a mail is valid.
    static let linkLifetime = 24 * 3600
    /// The time in seconds for which the server tries to send a mail.
    static let patience: TimeInterval = 24 * 3600
    /// The path of the page to which the link in a mail leads.
    static let linkPath = "/account/email"

    let kind: String
    let recipient: String
    let language: String
    /// The secret in the link; nil for a mail without a link.
    let secret: String?
    /// The browser that made the change; nil for a mail that is no notice, and for a change by a command.
    let origin: ChangeOrigin?
}

/// A mail that was read from the queue.
struct OpenedMail {
    let kind: MailKind
    let recipient: EmailAddress
    let language: Language
    let secret: String?
    let origin: ChangeOrigin?

    /// Decrypts a mail; nil if the server key was replaced meanwhile, or if a newer version has queued a mail that this
    /// one does not know.
    init?(_ mail: NewMail, with serverKey: ServerKey) {
        guard let bytes = serverKey.open(mail: mail.sealed, identifier: mail.id),
            let contents = try? JSONDecoder().decode(MailContents.self, from: Data(bytes)),
            let kind = MailKind(rawValue: contents.kind), let recipient = EmailAddress(contents.recipient)
        else { return nil }
        self.kind = kind
        self.recipient = recipient
        language = Language(rawValue: contents.language) ?? .standard
        secret = contents.secret
        origin = contents.origin
    }
}
