import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// `/sign-in`: the sign-in to the console, followed by a redirect to the requested page.
///
/// The parameter `to` contains the path and query of the requested page. Only the path of a console page is accepted,
/// and the query is encoded again. The endpoint is therefore not an open redirector (RFC 9700 §4.11). Without such a
/// path, the user comes to the account, or to the administration.
struct ConsoleSignInEndpoint: Sendable {
    let console: Console
    let form: SignInForm

    /// The routes of the pages to which a sign-in may return.
    private var routes: RouteTable { RouteTable(ServerPages.console.endpoints, settings: console.settings) }

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
        let endpoint = path.flatMap { path in routes.route(path.prefix { $0 != "?" })?.endpoint }
        let session = try await console.sessions.current(request, now: now)
        if let session, endpoint.map({ console.isRecentEnough(session, for: $0, now: now) }) ?? true {
            return .seeOther(try await landing(session.user, at: path))
        }
        // The notice about a lost form is shown only if the requested page has a form. If the lost form was the
        // sign-out button, the requested page is the account page, which has no form.
        let isFormLost =
            (try? query?.single(Console.SignInNeeded.lostParameter)) == "form"
            && endpoint?.methods.contains(.post) == true
        let notice: SignInMessage? =
            isFormLost ? .formLost : session.map { $0.lacksRole ? SignInMessage.signInHere : .signInAgain }
        return try page(request, path: path, notice: notice, now: now)
    }

    private func attempt(_ request: IncomingRequest, now: Date) async throws -> Reply {
        let submission = try form.receive(request, now: now) { pendingRequest in
            Console.SignInNeeded(path: pendingRequest).url(issuer: console.settings.issuer)
        }
        let path = destination(submission.pendingRequest)
        switch try await form.attempt(submission) {
        case .again(let again): return try page(request, path: path, again: again, now: now)
        case .signedIn(let session, let cookies, let codes, let canCreatePasskey):
            let path = try await landing(session.user, at: path)
            if canCreatePasskey, let offer = try await offerPasskey(path, session, request, now: now) {
                return offer.setting(cookies)
            }
            return .seeOther(path).showing(codes).setting(cookies)
        }
    }

    /// Returns the page to which a user comes after a sign-in: the requested one, or the account.
    ///
    /// In place of an account without apps, an administrator gets the first page of the administration.
    private func landing(_ user: User, at path: String?) async throws -> String {
        if let path { return path }
        let isEmpty = user.hasRights ? try await console.store.consents(of: user.id).isEmpty : false
        return console.path(isEmpty ? .overview : .account)
    }

    /// Returns the page that offers a passkey; nil if the terms or the page of the passkeys come next, or if the user
    /// gets no offer.
    private func offerPasskey(
        _ path: String, _ session: LiveSession, _ request: IncomingRequest, now: Date
    ) async throws -> Reply? {
        guard path != console.path(.passkeys), console.settings.unacceptedTerms(of: session.user) == nil else {
            return nil
        }
        return try await form.passkeyOffers.offer(
            to: session, PasskeyOfferQuestion(door: .console, request: path), on: request, now: now)
    }

    private func page(
        _ request: IncomingRequest, path: String?, notice: SignInMessage? = nil, again: SignInForm.Again? = nil,
        now: Date
    ) throws -> Reply {
        // The path of this page stands for none.
        let path = path ?? console.path(.consoleSignIn)
        let content = SignInForm.Content(
            pendingRequest: path,
            // The policy of a client can block a sign-in in an embedded web view. This sign-in belongs to no client:
            // the page warns but never blocks, because users must always be able to reach their account.
            openInBrowserLink: WebViewVerdict(on: request, under: .warn)
                .openInBrowserLink(console.settings.issuer.origin + path),
            notice: notice.map { request.words($0) })
        return try form.page(content, again: again, on: request, now: now)
    }

    /// Returns the path and query of the console page in `to`; nil for any other value.
    private func destination(_ target: String?) -> String? {
        guard let target else { return nil }
        let path = target.prefix { $0 != "?" }
        guard let route = routes.route(path), route.endpoint.audience != .everyone,
            route.endpoint.methods.contains(.get)
        else { return nil }
        let page =
            route.parameters.clientID.map { console.path(route.endpoint, of: $0) } ?? console.path(route.endpoint)
        let query = Self.query(String(target.dropFirst(path.count + 1)))
        return query.isEmpty ? page : page + "?" + query
    }

    /// Encodes the query of a page again, without the parameter `done`, which shows the confirmation of an earlier
    /// action.
    private static func query(_ text: String) -> String {
        guard text.utf8.count <= queryLimit, let parameters = try? FormParameters(parsing: text) else { return "" }
        var kept = FormParameters()
        for pair in parameters.pairs where pair.name != Reply.noticeParameter { kept.append(pair.name, pair.value) }
        return kept.encoded
    }

    /// The maximum length of a query in bytes; a longer query is dropped.
    ///
    /// The queries of console pages are far shorter.
    private static let queryLimit = 2048
}
