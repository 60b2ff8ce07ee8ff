package import CounterfoilServer
import CounterfoilStore

/// The mails that the server sends, in one language.
package struct MailPreviewPage: ConsolePage, Hashable {
    package static let template = "mail-preview"

    package struct Preview: Sendable, Hashable {
        /// The identifier of the heading.
        package let id: String
        package let mail: MailPage
        package let plainText: String
    }

    package struct LanguageLink: Sendable, Hashable {
        /// The language tag (BCP 47).
        package let language: String
        /// The name of the language, in this language.
        package let name: String
        package let path: String
        package let isCurrent: Bool
    }

    package var console: ConsoleHead
    package var paths: AdministrationPaths
    package var languages: [LanguageLink]
    /// The tag of the language of the mails.
    package var mailLanguage: String
    package var previews: [Preview]
    /// The path of the form that sends a test mail.
    package var testPath: String
}
