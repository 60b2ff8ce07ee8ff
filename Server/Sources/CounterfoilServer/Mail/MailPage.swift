package import CounterfoilProtocol
package import CounterfoilStore
package import Foundation

/// The contents of a mail, as plain text and for the template of its HTML.
package struct MailPage: Page, Hashable {
    package static let template = "mail"

    package struct Link: Sendable, Hashable {
        package let address: String
        package let title: String
    }

    package let subject: String
    package let opening: String
    /// The sentence that says who made a change; nil for a mail that is no notice.
    package let origin: String?
    package let link: Link?
    package let closing: String
    package let footer: String

    /// Writes a mail.
    ///
    /// - Parameters:
    ///   - kind: The kind of the mail.
    ///   - link: The URL in the mail, if its kind has one.
    ///   - time: The time that the mail is about.
    ///   - origin: The browser that made the change; nil if a command did, or for a mail that is no notice.
    ///   - words: The translator into the language of the mail.
    ///   - site: The service that sends the mail.
    ///   - issuer: The issuer of the server.
    package init(
        _ kind: MailKind, link: String?, about time: Date, by origin: ChangeOrigin? = nil, in words: Localizer,
        from site: Site, issuer: Issuer
    ) {
        func text(_ key: MailText) -> String {
            words(
                LocalizedText(
                    key,
                    [
                        "site": .name(site.name), "time": .text(words.moment(time)), "url": .text(issuer.rawValue),
                        "account": .text(issuer.endpoint("/account")),
                        "device": .nested(Device(userAgent: origin?.userAgent ?? "").text),
                        "source": .text(origin?.source ?? ""),
                        "duration": .nested(.duration(seconds: MailContents.linkLifetime)),
                    ]))
        }
        subject = text(kind.subject)
        opening = text(kind.opening)
        self.origin = kind.isNotice ? text(origin == nil ? .byOperator : .fromDevice) : nil
        self.link = link.flatMap { address in kind.button.map { Link(address: address, title: text($0)) } }
        closing = text(kind.closing)
        footer = text(.footer)
    }

    /// The mail as plain text.
    package var plainText: String {
        [opening, origin, link?.address, closing, "-- \n" + footer].compactMap(\.self).joined(separator: "\n\n") + "\n"
    }
}

extension MailPage {
    /// Returns a mail of each kind as a user would get it, for a preview.
    package static func previews(
        in language: Language, from site: Site, issuer: Issuer, by origin: ChangeOrigin, at time: Date
    ) -> [MailPage] {
        MailKind.allCases.map { kind in
            MailPage(
                kind, link: issuer.endpoint(MailContents.linkPath) + "?token=…", about: time, by: origin,
                in: Localizer(language), from: site, issuer: issuer)
        }
    }
}
