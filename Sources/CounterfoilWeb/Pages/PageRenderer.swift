import CounterfoilProtocol
public import CounterfoilServer

/// Turns the values of the pages into HTML.
public struct PageRenderer: Sendable {
    /// Why a page was not rendered; a fault of the server, never of the person.
    public enum Failure: Error, Hashable {
        /// A template is missing.
        case noTemplate(String)
        /// A template names a phrase that the catalogue does not have.
        case unknownPhrase(String, template: String)
        /// The destination of a way back is of a kind that runs in the page instead of leaving it.
        case unsafeDestination
    }

    private let templates: [Language: PageTemplates]
    private let prefix: String

    /// Makes a renderer.
    ///
    /// - Parameter prefix: what stands before the paths of the assets: the path of the issuer, empty for most.
    /// - Throws: an error of the catalogue that says what to mend in it.
    public init(prefix: String = "") throws {
        _ = try Catalogue.shipped.get()
        templates = Dictionary(uniqueKeysWithValues: Language.allCases.map { ($0, PageTemplates(Words($0))) })
        self.prefix = prefix
    }

    /// The HTML document of a page, in UTF-8.
    public func render(_ page: Page, in frame: Frame) throws -> [UInt8] {
        let (template, context) = try content(of: page, in: frame)
        guard let templates = templates[frame.language] else { throw Failure.noTemplate(template) }
        return Array(try templates.render(context, with: template).utf8)
    }

    /// Parses every template in every language, which otherwise happens when one is first asked for.
    package func parseAll() throws {
        for templates in templates.values { try templates.parseAll() }
    }

    /// The template of each page, and what it names beside the page itself.
    private func content(of page: Page, in frame: Frame) throws -> (template: String, context: PageContext) {
        func context(
            _ value: any Sendable, _ others: [String: (any Sendable)?] = [:]
        ) -> PageContext {
            PageContext(value, in: frame, assets: addresses(of: page, frame), console: page.console, others)
        }
        switch page {
        case .signIn(let page):
            let wait = page.retryAfterSeconds.map { Words(frame.language)(.wait(seconds: $0)) }
            return ("sign-in", context(page, ["usernameKept": !page.username.isEmpty, "wait": wait]))
        case .consent(let page):
            let destination = DestinationContext(page.redirectDestination)
            return ("consent", context(page, ["destination": destination, "hasChoice": page.hasChoice]))
        case .continue(let page):
            return ("continue", context(page, ["destination": DestinationContext(page.redirectDestination)]))
        case .webView(let page): return ("web-view", context(page))
        case .goOn(let page):
            guard Self.leavesThePage(page.destination) else { throw Failure.unsafeDestination }
            let (allowed, denied, refused) = (page.kind == .allowed, page.kind == .denied, page.kind == .refused)
            let posts = !page.fields.isEmpty
            return (
                "go-on", context(page, ["allowed": allowed, "denied": denied, "refused": refused, "posts": posts])
            )
        case .signOut(let page): return ("sign-out", context(page))
        case .signedOut(let page):
            guard page.destination.map(Self.leavesThePage) ?? true else { throw Failure.unsafeDestination }
            return ("signed-out", context(page))
        case .appLink(let page): return ("app-link", context(page))
        case .problem(let page): return ("problem", context(page))
        case .setup(let page):
            let field = page.wrongField ?? .username
            let (atUsername, atEmail, atPassword) = (field == .username, field == .email, field == .password)
            return (
                "setup", context(page, ["atUsername": atUsername, "atEmail": atEmail, "atPassword": atPassword])
            )
        case .setupDone(let page): return ("setup-done", context(page))
        case .account(let page): return ("account", context(page))
        case .connectedApplication(let page):
            return ("connected-application", context(page))
        case .sessions(let page): return ("sessions", context(page))
        case .password(let page): return ("password", context(page))
        case .applications(let page): return ("applications", context(page))
        case .applicationTypes(let page): return ("application-types", context(page))
        case .applicationForm(let page): return ("application-form", context(page))
        case .application(let page): return ("application", context(page))
        case .connect(let page): return ("connect", context(page))
        case .secrets(let page): return ("secrets", context(page))
        case .deleteApplication(let page): return ("delete-application", context(page))
        case .policy(let page): return ("policy", context(page))
        case .logo(let page): return ("logo", context(page))
        case .association(let page): return ("association", context(page))
        case .administration(let page): return ("administration", context(page))
        case .branding(let page): return ("branding", context(page))
        case .audit(let page): return ("audit", context(page))
        }
    }

    private func addresses(of page: Page, _ frame: Frame) -> PageContext.Addresses {
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
