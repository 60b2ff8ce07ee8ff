public import CounterfoilServer

/// Turns the values of the pages into HTML.
public struct PageRenderer: Sendable {
    /// Why a page was not rendered; a fault of the server, never of the person.
    public enum Failure: Error, Hashable {
        /// A template is missing.
        case noTemplate(String)
        /// The destination of a way back is of a kind that runs in the page instead of leaving it.
        case unsafeDestination
    }

    private let templates: PageTemplates
    private let prefix: String

    /// Parses the templates.
    ///
    /// - Parameter prefix: what stands before the paths of the assets: the path of the issuer, empty for most.
    /// - Throws: the parser's error for a template that is not well formed.
    public init(prefix: String = "") throws {
        templates = try PageTemplates()
        self.prefix = prefix
    }

    /// The HTML document of a page, in UTF-8.
    public func render(_ page: Page) throws -> [UInt8] {
        let (template, context) = try prepared(page)
        guard let html = templates.render(context, with: template) else { throw Failure.noTemplate(template) }
        return Array(html.utf8)
    }

    private func prepared(_ page: Page) throws -> (template: String, context: PageContext) {
        switch page {
        case .signIn(let page):
            var context = context(page, of: page.siteName)
            context.usernameKept = !page.username.isEmpty
            context.wait = .init(seconds: page.retryAfterSeconds)
            return ("sign-in", context)
        case .consent(let page):
            var context = context(page, of: page.siteName)
            context.siteInitials = page.siteInitials
            context.applicationInitials = page.applicationInitials
            context.destination = .init(page.redirectDestination)
            return ("consent", context)
        case .goOn(let page):
            guard Self.leavesThePage(page.destination) else { throw Failure.unsafeDestination }
            var context = context(page, of: page.siteName)
            context.applicationInitials = page.applicationName.initials
            context.allowed = page.kind == .allowed
            context.denied = page.kind == .denied
            context.refused = page.kind == .refused
            return ("go-on", context)
        case .problem(let page):
            return ("problem", context(page, of: page.siteName))
        case .setup(let page):
            var context = context(page, of: page.siteName)
            context.usernameKept = !page.username.isEmpty
            return ("setup", context)
        case .setupDone(let page):
            return ("setup-done", context(page, of: page.siteName))
        }
    }

    private func context(_ page: any Sendable, of site: DisplayName) -> PageContext {
        PageContext(
            stylesheet: prefix + Asset.stylesheet.path, icon: prefix + Asset.icon.path, page: page,
            siteInitials: site.initials
        )
    }

    /// Whether a URL is absolute and of a scheme that a browser leaves the page for.
    private static func leavesThePage(_ url: String) -> Bool {
        guard let colon = url.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let scheme = url[..<colon].lowercased()
        guard let first = scheme.utf8.first, UInt8(ascii: "a")...UInt8(ascii: "z") ~= first else { return false }
        return !["javascript", "data", "vbscript", "blob", "about", "filesystem", "view-source"].contains(scheme)
    }
}
