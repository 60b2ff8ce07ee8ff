import CounterfoilProtocol
import Foundation

/// The branding as it was written, before any rule has been applied to it.
public struct BrandingDraft: Sendable {
    /// What the service says on the consent page, as it was written in one language.
    public struct Statement: Sendable, Hashable {
        /// The text, in Markdown.
        public var text = ""
        /// The address of the privacy policy.
        public var privacyURI = ""

        /// Creates a statement; empty unless given.
        public init(text: String = "", privacyURI: String = "") {
            self.text = text
            self.privacyURI = privacyURI
        }
    }

    /// The name of the service.
    public var siteName = ""
    /// The colour; empty for ours.
    public var accent = ""
    /// Where people get help.
    public var supportURI = ""
    /// What the service says on the consent page.
    public var statements: [Language: Statement] = [:]

    /// An empty draft, which stands for our own look.
    public init() {}

    /// A draft that changes nothing.
    public init(_ branding: Branding) {
        siteName = branding.siteName ?? ""
        accent = branding.accent?.rawValue ?? ""
        supportURI = branding.supportURI?.rawValue ?? ""
        statements = branding.statements.mapValues {
            Statement(text: $0.text ?? "", privacyURI: $0.privacyURI?.rawValue ?? "")
        }
    }

    /// A field of the form.
    package enum Field: Hashable {
        case siteName, accent, supportURI, logo
        case text(Language), privacyURI(Language)

        /// The name on the wire.
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

    /// A mistake in a draft; without a field it concerns all of it.
    public struct Problem: Sendable {
        package let field: Field?
        /// What is wrong and how to mend it.
        public let text: Text

        package init(field: Field?, text: Text) {
            self.field = field
            self.text = text
        }
    }

    /// The branding of the draft, and what is wrong with it; with a mistake the branding is of no use.
    public func checked(revision: Int) -> (branding: Branding, problems: [Problem]) {
        var branding = Branding(revision: revision)
        var problems: [Problem] = []
        if !siteName.isEmpty {
            if siteName.count > DisplayName.maximumLength || !DisplayName.isVisible(siteName) {
                problems.append(
                    Problem(
                        field: .siteName,
                        text: Text(BrandingPhrase.nameLength, ["limit": .number(DisplayName.maximumLength)])))
            }
            if DisplayName.hidesSomething(siteName) {
                problems.append(Problem(field: .siteName, text: Text(ApplicationPhrase.controlCharacters)))
            }
            branding.siteName = siteName
        }
        if !accent.isEmpty {
            branding.accent = AccentColor(accent)
            if branding.accent == nil {
                problems.append(Problem(field: .accent, text: Text(BrandingPhrase.notAColour)))
            }
        }
        if !supportURI.isEmpty {
            branding.supportURI = Self.supportAddress(supportURI)
            if branding.supportURI == nil {
                problems.append(Problem(field: .supportURI, text: Text(BrandingPhrase.notASupportAddress)))
            }
        }
        for language in Language.allCases {
            let statement = checkedStatement(in: language, &problems)
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

    private func checkedStatement(in language: Language, _ problems: inout [Problem]) -> SiteStatement {
        let written = statements[language] ?? Statement()
        var statement = SiteStatement()
        if !written.text.allSatisfy(\.isWhitespace) {
            do { statement.text = try ConsentText(markdown: written.text).markdown } catch {
                problems.append(Problem(field: .text(language), text: error.text))
            }
        }
        let address = written.privacyURI.trimmingCharacters(in: .whitespaces)
        if !address.isEmpty {
            statement.privacyURI = Self.pageAddress(address)
            if statement.privacyURI == nil {
                problems.append(Problem(field: .privacyURI(language), text: Text(BrandingPhrase.notAPrivacyAddress)))
            }
        }
        return statement
    }

    /// A page over https that does not hide where it is, as the consent page links it.
    private static func pageAddress(_ text: String) -> AbsoluteURI? {
        guard text.utf8.count <= 2048, let uri = try? AbsoluteURI(parsing: text), ConsentPage.Link(uri) != nil else {
            return nil
        }
        return uri
    }
}

/// What can be wrong with the look of the pages.
package enum BrandingPhrase: String, Phrase {
    case nameLength = "branding.name-length"
    case notAColour = "branding.not-a-colour"
    case notASupportAddress = "branding.not-a-support-address"
    case notAPrivacyAddress = "branding.not-a-privacy-address"
    case changedMeanwhile = "branding.changed-meanwhile"
    case pageExpired = "branding.page-expired"
}

extension Branding {
    /// What of it is another than before, for the audit log.
    package func difference(from former: Branding) -> String {
        statements == former.statements
            ? "the look of the pages" : "the look of the pages, and what the service says on the consent page"
    }
}
