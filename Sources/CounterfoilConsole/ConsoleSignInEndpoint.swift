import CounterfoilProtocol
import CounterfoilServer
import Foundation
import HTTPTypes

/// `/sign-in`: the sign-in to the console, followed by a redirect to the requested page.
///
/// The parameter `to` contains the path and query of that page. Only the path of a console page is
/// accepted, and the query is encoded again. The endpoint is therefore not an open redirector (RFC 9700
/// §4.11).
struct ConsoleSignInEndpoint: Sendable {
    let console: Console
    /// The routes of the pages to which a sign-in may return.
    private let routes: RouteTable
    let people: SignIn
    let earlierSignIns: EarlierSignIns

    init(console: Console, people: SignIn, earlierSignIns: EarlierSignIns) {
        self.console = console
        self.people = people
        self.earlierSignIns = earlierSignIns
        routes = RouteTable(ServerPages.console.endpoints, settings: console.settings)
    }

    var handlers: [EndpointHandler] { [EndpointHandler(.consoleSignIn, respond)] }

    func respond(to request: IncomingRequest, now: Date) async throws -> Reply {
        switch request.head.method {
        case .post: try await attempt(request, now: now)
        default: try await show(request, now: now)
        }
    }

    private func show(_ request: IncomingRequest, now: Date) async throws -> Reply {
        let query = try? FormParameters(parsing: request.query)
        let path = destination(try? query?.single("to"))
        let endpoint = routes.route(path.prefix { $0 != "?" })?.endpoint
        let session = try await console.sessions.current(request, now: now)
        if let session, endpoint.map({ console.isRecentEnough(session, for: $0, now: now) }) ?? true {
            return .seeOther(path)
        }
        // The notice needs a page with a form. A sign-out has none.
        let isFormLost =
            (try? query?.single(Console.SignInNeeded.lostParameter)) == "form"
            && endpoint?.methods.contains(.post) == true
        let notice: SignInPhrase? = isFormLost ? .formLost : session == nil ? nil : .signInAgain
        return page(
            request, path: path, earlier: earlierSignIns.of(request), notice: notice.map { request.words($0) }, now: now
        )
    }

    private func attempt(_ request: IncomingRequest, now: Date) async throws -> Reply {
        let form = try PageForm(request, issuer: console.settings.issuer)
        guard let browser = browser(of: request) else { throw PageProblem.cookiesMissing }
        try form.checkTicket(.consoleSignIn, of: browser.exposed, with: console.tickets, now: now)
        let path = destination(try form.value("request"))
        if try form.value("forget") == "true" {
            return page(request, path: path, earlier: nil, now: now)
                .setting(console.sessions.cookies.nobodyEarlier)
        }
        let name = try form.value("username")
        let outcome = try await people.attempt(
            name: name, password: try form.value("password"), source: request.countedSource(console.settings.issuer),
            now: now)
        let words = request.words
        switch outcome {
        case .refused(let person):
            await console.auditor.note(.signIn, .refused, by: request, person: person, now: now)
            return page(
                request, path: path, earlier: nil, name: name, problem: words(SignInPhrase.wrong),
                status: .badRequest, now: now)
        case .tooEarly(let seconds):
            await console.auditor.note(.throttled, .refused, by: request, detail: "sign-in", now: now)
            return page(
                request, path: path, earlier: nil, name: name, problem: words(SignInPhrase.tooManyAttempts),
                retryAfter: seconds, status: .tooManyRequests, now: now)
        case .signedIn(let person):
            guard let (_, cookie) = try await console.sessions.begin(for: person, replacing: request, now: now) else {
                return page(
                    request, path: path, earlier: nil, name: name, problem: words(SignInPhrase.wrong),
                    status: .badRequest, now: now)
            }
            await console.auditor.note(.signIn, by: request, person: person.id, now: now)
            return Reply.seeOther(path).setting(cookie).setting(earlierSignIns.remember(person))
        }
    }

    private func page(
        _ request: IncomingRequest, path: String, earlier: EarlierSignIn?, notice: String? = nil, name: String = "",
        problem: String? = nil, retryAfter: Int? = nil, status: HTTPResponse.Status = .ok, now: Date
    ) -> Reply {
        let known = browser(of: request)
        let browser = known ?? BrowserToken(random: console.random)
        let page = SignInPage(
            action: console.path(.consoleSignIn),
            request: path,
            ticket: console.tickets.issue(
                .consoleSignIn, to: browser.exposed, request: path,
                interaction: InteractionIdentifier(random: console.random),
                expires: now.addingTimeInterval(TimeInterval(console.settings.pageLifetime))),
            username: name,
            problem: problem,
            retryAfterSeconds: retryAfter,
            earlier: earlier.map { SignInPage.Earlier(name: $0.name, email: $0.email) },
            // No client policy applies here, and a user must always be able to reach their own account.
            wayToBrowser: WebViewVerdict(on: request, under: .warn)
                .wayToBrowser(console.settings.issuer.origin + path),
            notice: notice
        )
        var reply = Reply(status, .page(page))
        if let retryAfter { reply.fields[.retryAfter] = String(retryAfter) }
        return reply.setting(known == nil ? console.sessions.cookies.browser(browser) : nil)
    }

    private func browser(of request: IncomingRequest) -> BrowserToken? {
        request.cookie(console.sessions.cookies.browserName).flatMap(BrowserToken.init)
    }

    /// Returns the path and query of the console page in `to`; the account page for any other value.
    private func destination(_ target: String?) -> String {
        guard let target else { return console.path(.account) }
        let path = target.prefix { $0 != "?" }
        guard let route = routes.route(path), route.endpoint.audience != .everyone,
            route.endpoint.methods.contains(.get)
        else { return console.path(.account) }
        let page =
            route.parameters.clientID.map { console.path(route.endpoint, of: $0) } ?? console.path(route.endpoint)
        let query = Self.query(String(target.dropFirst(path.count + 1)))
        return query.isEmpty ? page : page + "?" + query
    }

    /// Encodes the query of a page again, without the confirmation of an earlier action.
    private static func query(_ text: String) -> String {
        guard text.utf8.count <= queryLimit, let parameters = try? FormParameters(parsing: text) else { return "" }
        var kept = FormParameters()
        for pair in parameters.pairs where pair.name != Reply.noticeParameter { kept.append(pair.name, pair.value) }
        return kept.encoded
    }

    /// The most bytes of a query; longer ones are dropped.
    ///
    /// The queries of console pages are far shorter.
    private static let queryLimit = 2048
}
