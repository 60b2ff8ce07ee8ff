public import CounterfoilStore
public import Foundation

/// A mail as the server writes it, which a ``MailSender`` renders and sends.
public struct OutgoingMail: Sendable, Hashable {
    /// The identifier, which is the same at each attempt.
    public let id: MailIdentifier
    /// The address of the recipient.
    public let recipient: EmailAddress
    /// The time at which the server decided to send the mail.
    public let createdAt: Date
    package let page: MailPage
    package let frame: Frame

    package init(
        id: MailIdentifier = MailIdentifier(), to recipient: EmailAddress, createdAt: Date, page: MailPage, frame: Frame
    ) {
        self.id = id
        self.recipient = recipient
        self.createdAt = createdAt
        self.page = page
        self.frame = frame
    }
}

extension OutgoingMail {
    /// Creates a mail with which an operator tests the settings.
    package init(test recipient: EmailAddress, settings: ServerSettings, at time: Date) {
        let site = Site(Branding(), settings: settings)
        self.init(
            to: recipient, createdAt: time,
            page: MailPage(
                .test, link: nil, about: time, in: .english, from: site,
                issuer: settings.issuer),
            frame: Frame(site: site))
    }
}

/// The way in which mails leave the server.
public protocol MailSender: Sendable {
    /// Sends a mail once, without a retry; the caller limits how many are sent at once.
    func send(_ mail: OutgoingMail) async -> MailOutcome
}

/// The outcome of an attempt to send a mail.
public enum MailOutcome: Sendable, Hashable {
    /// The mail server has accepted the mail.
    case accepted
    /// The attempt failed, and another one can succeed; the reason contains no personal data.
    case failed(String)
    /// The mail server has refused the mail or its recipient for good.
    ///
    /// The reason contains no personal data. The reply of the mail server, for the operator alone, often contains the
    /// address.
    case refused(String, reply: String)
    /// The attempt was cut off before the mail was handed over.
    case cancelled
}
