import CounterfoilProtocol
package import CounterfoilStore
import Foundation

/// The branding as an administrator entered it, before it is checked.
package struct BrandingDraft: Sendable {
    /// The service's own text and privacy policy for the consent page in one language, as entered.
    package struct Statement: Sendable, Hashable {
        /// The text in Markdown; empty for none.
        package var text = ""
        /// The URL of the service's privacy policy in this language; empty for none.
        package var privacyURI = ""

        package init(text: String = "", privacyURI: String = "") {
            self.text = text
            self.privacyURI = privacyURI
        }
    }

    /// The name of the service; empty for the default.
    package var siteName = ""
    /// The accent colour; empty for the default.
    package var accent = ""
    /// The https URL or `mailto:` URI where users get help; empty for none.
    package var supportURI = ""
    /// The service's own texts for the consent page, by language.
    package var statements: [Language: Statement] = [:]

    /// Creates an empty draft, which results in the default branding.
    package init() {}

    /// Creates a draft from the current branding, to edit it.
    package init(_ branding: Branding) {
        siteName = branding.siteName ?? ""
        accent = branding.accent?.rawValue ?? ""
        supportURI = branding.supportURI?.rawValue ?? ""
        statements = branding.statements.mapValues {
            Statement(text: $0.text ?? "", privacyURI: $0.privacyURI?.rawValue ?? "")
        }
    }

    package enum Field: Hashable {
        case siteName, accent, supportURI, logo
        case text(Language), privacyURI(Language)

        /// The name of the field in the submitted form.
        package var name: String {
            switch self {
            case .siteName: "site_name"
            case .accent: "accent"
            case .supportURI: "support_uri"
            case .logo: "logo"
            case .text(let language): "consent_text_\(language.rawValue)"
            case .privacyURI(let language): "privacy_uri_\(language.rawValue)"
            }
        }
    }

    /// An error in a draft; if ``field`` is nil, the error concerns the draft as a whole.
    package struct FieldProblem: Sendable {
        package let field: Field?
        /// The error and its remedy.
        package let text: LocalizedText

        package init(_ field: Field?, _ error: some Localized) {
            self.field = field
            text = error.text
        }

        package init(_ field: Field?, _ reason: Reason) { self.init(field, reason.text) }

        package enum Reason: String, LocalizationKey {
            case nameLength = "branding.name-length"
            case notAColour = "branding.not-a-colour"
            case notASupportURI = "branding.not-a-support-uri"
            case notAPrivacyURI = "branding.not-a-privacy-uri"
            case changedMeanwhile = "branding.changed-meanwhile"
        }
    }

    /// Checks the draft and creates the branding from it.
    ///
    /// - Parameters:
    ///   - revision: The revision of the branding that the draft was made from.
    ///   - formats: The parser of the texts.
    /// - Returns: The branding and the problems. If there is a problem, the branding must not be used.
    package func checked(revision: Int, formats: ContentFormats) -> (branding: Branding, problems: [FieldProblem]) {
        var branding = Branding(revision: revision)
        var problems: [FieldProblem] = []
        if !siteName.isEmpty {
            if siteName.count > DisplayName.maximumLength || !DisplayName.isVisible(siteName) {
                problems.append(
                    FieldProblem(
                        .siteName,
                        LocalizedText(FieldProblem.Reason.nameLength, ["limit": .number(DisplayName.maximumLength)])))
            }
            if DisplayName.hidesSomething(siteName) {
                problems.append(FieldProblem(.siteName, ClientProblem.Reason.controlCharacters))
            }
            branding.siteName = siteName
        }
        if !accent.isEmpty {
            branding.accent = AccentColor(accent)
            if branding.accent == nil {
                problems.append(FieldProblem(.accent, .notAColour))
            }
        }
        if !supportURI.isEmpty {
            branding.supportURI = Self.supportAddress(supportURI)
            if branding.supportURI == nil {
                problems.append(FieldProblem(.supportURI, .notASupportURI))
            }
        }
        for language in Language.allCases {
            let statement = checkedStatement(in: language, formats, &problems)
            branding.statements[language] = statement.isEmpty ? nil : statement
        }
        return (branding, problems)
    }

    private static func supportAddress(_ text: String) -> AbsoluteURI? {
        guard let uri = try? AbsoluteURI(parsing: text), uri.userInformation == nil,
            uri.scheme.lowercased() == "mailto" || (uri.scheme.lowercased() == "https" && uri.host != nil)
        else { return nil }
        return uri
    }

    private func checkedStatement(
        in language: Language, _ formats: ContentFormats, _ problems: inout [FieldProblem]
    ) -> SiteStatement {
        let written = statements[language] ?? Statement()
        var statement = SiteStatement()
        if !written.text.allSatisfy(\.isWhitespace) {
            do {
                statement.text = try ConsentText(markdown: written.text, formats: formats).markdown
            } catch {
                problems.append(FieldProblem(.text(language), error))
            }
        }
        let address = written.privacyURI.trimmingCharacters(in: .whitespaces)
        if !address.isEmpty {
            statement.privacyURI = Self.pageAddress(address)
            if statement.privacyURI == nil {
                problems.append(
                    FieldProblem(.privacyURI(language), .notAPrivacyURI))
            }
        }
        return statement
    }

    /// Parses the https URL of a page; nil if the URL breaks the rules for links on the consent page.
    private static func pageAddress(_ text: String) -> AbsoluteURI? {
        guard text.utf8.count <= 2048, let uri = try? AbsoluteURI(parsing: text), ConsentLink(page: uri) != nil else {
            return nil
        }
        return uri
    }
}

extension Branding {
    /// Describes the change from an earlier branding in a few words, for the audit log.
    package func difference(from former: Branding) -> String {
        statements == former.statements ? "branding" : "branding, including the service text of the consent page"
    }
}
