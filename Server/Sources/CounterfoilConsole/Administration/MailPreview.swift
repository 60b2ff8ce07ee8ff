import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import HTTPTypes

/// `/admin/mail`: the mails of the server as users get them, where mail is set up.
struct MailPreview: Sendable {
    let console: Console

    /// The query parameter with the tag of the language.
    private static let parameter = "language"

    func show(_ exchange: Console.Exchange) async throws -> Reply {
        guard console.mails != nil else { throw NotFoundError() }
        let asked = try? FormParameters(parsing: exchange.request.query).single(Self.parameter)
        let language = asked.flatMap { Language(rawValue: $0) } ?? exchange.words.language
        let branding = try await console.registry.atArrival().branding()
        let site = Site(branding, settings: console.settings, language: language)
        let mails = MailPage.previews(
            in: language, from: site, issuer: console.settings.issuer, by: ChangeOrigin(exchange.request),
            at: exchange.now)
        let page = MailPreviewPage(
            console: console.head(exchange, in: .administration),
            paths: AdministrationPaths(console, exchange, at: .mailPreview),
            languages: Language.allCases.map { other in
                MailPreviewPage.LanguageLink(
                    language: other.rawValue, name: other.ownName,
                    path: console.path(.mailPreview) + "?\(Self.parameter)=\(other.rawValue)",
                    isCurrent: other == language)
            },
            mailLanguage: language.rawValue,
            previews: mails.enumerated().map { number, mail in
                MailPreviewPage.Preview(id: "mail-\(number)", mail: mail, plainText: mail.plainText)
            }, testPath: console.path(.testMail))
        return Reply(.ok, .page(page))
    }
}
