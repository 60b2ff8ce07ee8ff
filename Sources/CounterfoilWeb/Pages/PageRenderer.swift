import CounterfoilProtocol
package import CounterfoilServer

/// Turns the values of the pages into HTML.
package struct PageRenderer: Sendable {
    /// Why a page was not rendered; a fault of the server, never of the person.
    package enum Failure: Error, Hashable {
        /// A template is missing.
        case noTemplate(String)
        /// A template names a phrase that the catalogue does not have.
        case unknownPhrase(String, template: String)
        /// The destination of a way back is of a kind that runs in the page instead of leaving it.
        case unsafeDestination
    }

    private let templates: [Language: PageTemplates]
    private let prefix: String

    /// Creates a renderer.
    ///
    /// - Parameters:
    ///   - pages: the pages for signed-in users, whose templates are rendered beside those of the protocol.
    ///   - prefix: the path of the issuer, which precedes the paths of the assets; empty for most.
    /// - Throws: an error of the catalogue that says what to mend in it.
    package init(pages: ServerPages? = nil, prefix: String = "") throws {
        _ = try Catalogue.shipped.get()
        let sources = PageTemplates.ofTheProtocol.merging(pages?.templates ?? [:]) { own, _ in own }
        templates = Dictionary(
            uniqueKeysWithValues: Language.allCases.map { ($0, PageTemplates(Words($0), sources: sources)) })
        self.prefix = prefix
    }

    /// The HTML document of a page, in UTF-8.
    package func render(_ page: any Page, in frame: Frame) throws -> [UInt8] {
        guard page.leadsTo.map(Self.leavesThePage) ?? true else { throw Failure.unsafeDestination }
        let template = type(of: page).template
        guard let templates = templates[frame.language] else { throw Failure.noTemplate(template) }
        let context = PageContext(page, in: frame, assets: addresses(of: page, frame))
        return Array(try templates.render(context, with: template).utf8)
    }

    /// Parses every template in every language, which otherwise happens when one is first asked for.
    package func parseAll() throws {
        for templates in templates.values { try templates.parseAll() }
    }

    private func addresses(of page: any Page, _ frame: Frame) -> PageContext.Addresses {
        PageContext.Addresses(
            stylesheet: prefix + Asset.stylesheet(accent: frame.site.accent).path,
            script: page.script.map { prefix + $0.asset.path }, icon: Asset.icon(accent: frame.site.accent)
        )
    }

    /// Whether a URL is absolute and of a scheme that a browser leaves the page for.
    private static func leavesThePage(_ url: String) -> Bool {
        guard let colon = url.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let scheme = url[..<colon].lowercased()
        guard let first = scheme.utf8.first, UInt8(ascii: "a")...UInt8(ascii: "z") ~= first else { return false }
        return !RedirectURI.isHandledByBrowsers(scheme: scheme)
    }
}
