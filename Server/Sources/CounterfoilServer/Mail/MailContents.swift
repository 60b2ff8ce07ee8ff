@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
import Foundation

/// The stored contents of a mail, encrypted with the server key, so that no copy of the database contains a link.
struct MailContents: Codable, Hashable {
    /// The time in seconds for which the server tries to send a mail.
    static let patience: TimeInterval = 24 * 3600

    let kind: String
    let recipient: String
    let language: String
    /// The secret in the link; nil for a mail without a link.
    let secret: String?
    /// The time in seconds for which the link is valid; nil for that of the kind.
    var lifetime: Int?
    /// The browser that made the change; nil for a mail that is no notice, and for a change by a command.
    let origin: ChangeOrigin?
}

/// A mail that was read from the queue.
struct OpenedMail {
    let kind: MailKind
    let recipient: EmailAddress
    let language: Language
    let secret: String?
    /// The time in seconds for which the link is valid.
    let lifetime: Int
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
        lifetime = contents.lifetime ?? kind.linkLifetime
        origin = contents.origin
    }
}

extension NewMail {
    /// Writes a mail, and encrypts it with the server key.
    ///
    /// - Parameters:
    ///   - kind: The kind of the mail.
    ///   - address: The address of the recipient.
    ///   - user: The user to whom the mail goes; nil for a person without an account.
    ///   - language: The language of the mail.
    ///   - secret: The secret in the link; nil for a mail without one.
    ///   - lifetime: The time in seconds for which the link is valid; nil for that of the kind.
    ///   - origin: The browser that made the change; nil for a mail that is no notice, and for a change by a command.
    ///   - serverKey: The server key.
    ///   - random: The source of the identifier.
    ///   - now: The time at which the mail is queued.
    init(
        _ kind: MailKind, to address: EmailAddress, of user: UserIdentifier?, in language: Language,
        secret: String? = nil, lifetime: Int? = nil, from origin: ChangeOrigin? = nil, with serverKey: ServerKey,
        random: RandomBytes, now: Date
    ) throws {
        let id = MailIdentifier(random: random)
        let contents = MailContents(
            kind: kind.rawValue, recipient: address.rawValue, language: language.rawValue, secret: secret,
            lifetime: lifetime, origin: origin)
        // A link is of no use after its end.
        let patience = secret == nil ? MailContents.patience : TimeInterval(lifetime ?? kind.linkLifetime)
        self.init(
            id: id, userID: user,
            sealed: try serverKey.seal(mail: Array(try JSONEncoder().encode(contents)), identifier: id),
            createdAt: now, expires: now.addingTimeInterval(min(MailContents.patience, patience)))
    }
}
