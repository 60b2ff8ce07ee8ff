import CounterfoilProtocol
package import CounterfoilServer
import CounterfoilStore

/// Renders pages as HTML, from the template of the page and the localized messages.
package struct PageRenderer: Sendable {
    /// An error of rendering, which is always a defect of the server.
    package enum Failure: Error, Hashable {
        /// There is no template with this name.
        case noTemplate(String)
        /// A template uses a message key that the catalogue does not contain.
        case unknownKey(String, template: String)
        /// The page leads to a URL that is not absolute, or whose scheme browsers handle themselves, such as
        /// `javascript`.
        case unsafeDestination
    }

    private let templates: [Language: PageTemplates]
    private let prefix: String

    /// Creates a renderer.
    ///
    /// - Parameters:
    ///   - pages: The pages for signed-in users, whose templates are added to those of the protocol pages.
    ///   - prefix: The path of the issuer, which precedes the paths of the assets; often empty.
    /// - Throws: An error that names the defect, if the catalogue of localized messages is defective.
    package init(pages: ServerPages? = nil, prefix: String = "") throws {
        _ = try Catalogue.shipped.get()
        let sources = PageTemplates.ofTheProtocol.merging(pages?.templates ?? [:]) { own, _ in own }
        templates = Dictionary(
            uniqueKeysWithValues: Language.allCases.map { ($0, PageTemplates(Localizer($0), sources: sources)) })
        self.prefix = prefix
    }

    /// Renders a page as an HTML document in UTF-8.
    package func render(_ page: any Page, in frame: Frame) throws -> [UInt8] {
        guard page.leadsTo.map(Self.leavesThePage) ?? true else { throw Failure.unsafeDestination }
        let template = type(of: page).template
        guard let templates = templates[frame.language] else { throw Failure.noTemplate(template) }
        let context = PageContext(page, in: frame, assets: addresses(of: page, frame))
        return Array(try templates.render(context, with: template).utf8)
    }

    /// Parses every template in every language.
    ///
    /// It throws an error for a defective template. Without this call, each template is parsed at its first use.
    package func parseAll() throws {
        for templates in templates.values { try templates.parseAll() }
    }

    private func addresses(of page: any Page, _ frame: Frame) -> PageContext.Addresses {
        PageContext.Addresses(
            stylesheet: prefix + Asset.stylesheet(accent: frame.site.accent).path,
            script: page.script.map { prefix + $0.asset.path }, icon: Asset.icon(accent: frame.site.accent)
        )
    }

    /// Returns whether a URL is absolute and has a scheme that navigates away from the page.
    private static func leavesThePage(_ url: String) -> Bool {
        guard let colon = url.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let scheme = url[..<colon].lowercased()
        guard let first = scheme.utf8.first, UInt8(ascii: "a")...UInt8(ascii: "z") ~= first else { return false }
        return !RedirectURI.isHandledByBrowsers(scheme: scheme)
    }
}
