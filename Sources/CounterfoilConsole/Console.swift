import CounterfoilProtocol
import CounterfoilServer
import Foundation
import HTTPTypes
import Logging

/// What the pages for people who are signed in share: who looks, the head of the page, and where its forms come from.
struct Console: Sendable {
    let settings: ServerSettings
    let store: any AuthorizationServerStore
    let sessions: SessionKeeper
    let tickets: TicketAuthority
    let random: RandomBytes
    let logger: Logger
    let auditor: Auditor

    init(_ components: ServerComponents) {
        settings = components.settings
        store = components.store
        sessions = components.sessions
        tickets = components.tickets
        random = components.random
        logger = components.logger
        auditor = components.auditor
    }

    /// The most bytes of the address of a page that are kept during a sign-in.
    private static let targetLimit = 2048

    /// Somebody who is signed in, looking at a page.
    struct Visit: Sendable {
        let request: IncomingRequest
        let session: LiveSession
        let now: Date
        let words: Words

        var person: Person { session.person }
        /// The path of the page, to which tickets are bound.
        var path: String { String((request.head.path ?? "").prefix { $0 != "?" }) }
    }

    /// A page that nobody but somebody signed in can see.
    struct SignInNeeded: Error {
        /// The path, with its query, to go on to after signing in.
        let path: String
        /// Whether a form came, which is lost.
        var losesForm = false

        /// The parameter of the sign-in page that says that a form is lost.
        static let lostParameter = "lost"

        /// The address of the sign-in page.
        func url(issuer: Issuer) -> String {
            var query = FormParameters(["to": path])
            if losesForm { query.append(Self.lostParameter, "form") }
            return issuer.endpoint(Endpoint.consoleSignIn.path) + "?" + query.encoded
        }
    }

    /// Notes what somebody who is signed in has done.
    func note(
        _ kind: AuditEvent.Kind, _ outcome: AuditEvent.Outcome = .done, by visit: Visit,
        client: ClientIdentifier? = nil,
        detail: String? = nil
    ) async {
        await auditor.note(
            kind, outcome, by: visit.request, person: visit.person.id, client: client, detail: detail, now: visit.now)
    }

    /// Notes scopes that were approved for requests without a user, or withdrawn.
    func noteMachineAccess(from former: RegisteredClient?, to client: RegisteredClient, by visit: Visit) async {
        guard let change = MachineAccessChange(from: former, to: client) else { return }
        await note(.machineAccess, by: visit, client: client.id, detail: change.detail)
    }

    /// Who looks at a page.
    func visit(_ request: IncomingRequest, at endpoint: Endpoint, now: Date) async throws -> Visit {
        let isForm = request.head.method == .post
        guard let session = try await sessions.current(request, now: now),
            isForm || isRecentEnough(session, for: endpoint, now: now)
        else {
            let target = request.head.path ?? ""
            throw SignInNeeded(
                path: target.utf8.count <= Self.targetLimit ? target : String(target.prefix { $0 != "?" }),
                losesForm: isForm)
        }
        return Visit(request: request, session: session, now: now, words: request.words)
    }

    /// Whether the user of a session signed in recently enough to see a page.
    ///
    /// A form needs no check of its own: its ticket comes from the page, which only a recent sign-in has opened.
    func isRecentEnough(_ session: LiveSession, for endpoint: Endpoint, now: Date) -> Bool {
        !endpoint.needsRecentSignIn
            || now.timeIntervalSince(session.authenticatedAt) < TimeInterval(settings.recentSignInAge)
    }

    /// The head of a page.
    func head(_ visit: Visit, in part: ConsoleHead.Part?) -> ConsoleHead {
        let prefix = settings.issuer.path
        return ConsoleHead(
            personName: DisplayName(visit.person.displayName, orElse: visit.person.username.rawValue),
            isAdministrator: visit.person.isAdministrator,
            registersApplications: settings.registration.isOpen(to: visit.person),
            part: part,
            paths: ConsoleHead.Paths(
                applications: prefix + Endpoint.applications.path,
                account: prefix + Endpoint.account.path,
                administration: prefix + Endpoint.administration.path,
                signOut: prefix + Endpoint.signOut.path
            ),
            signOutTicket: ticket(visit, for: prefix + Endpoint.signOut.path)
        )
    }

    /// The path of an endpoint under the issuer.
    func path(_ endpoint: Endpoint) -> String { settings.issuer.path + endpoint.path }

    /// The path of an endpoint that names an application.
    func path(_ endpoint: Endpoint, of client: ClientIdentifier) -> String {
        settings.issuer.path + endpoint.path(of: client)
    }

    /// The proof of a form that posts to a path, as long as a session can be idle, so that nothing that was typed is lost.
    func ticket(_ visit: Visit, for path: String, interaction: InteractionIdentifier? = nil) -> String {
        tickets.issue(
            .console, to: visit.session.holder, request: path,
            interaction: interaction ?? InteractionIdentifier(random: random),
            expires: visit.now.addingTimeInterval(TimeInterval(settings.sessionIdleLifetime))
        )
    }

    /// The form that a page of ours has sent to the path of this visit.
    func form(_ visit: Visit) throws -> (form: PageForm, ticket: Ticket) {
        let form = try PageForm(visit.request, issuer: settings.issuer)
        return (form, try checkTicket(try form.value("ticket"), of: visit))
    }

    /// The form that a page of ours has sent to the path of this visit, also when that page was open for too long.
    func formOrLate(_ visit: Visit) throws -> (form: PageForm, ticket: Ticket, isLate: Bool) {
        let form = try PageForm(visit.request, issuer: settings.issuer)
        let (ticket, isLate) = try checkTicketOrLate(try form.value("ticket"), of: visit)
        return (form, ticket, isLate)
    }

    /// Checks the proof of a form that is shown again, with what was typed, when its page was open for too long.
    ///
    /// A late form is one of ours, of this session and this page; whoever gets one changes nothing, and asks again.
    func checkTicketOrLate(
        _ text: String, of visit: Visit
    ) throws(PageProblem) -> (ticket: Ticket, isLate: Bool) {
        do {
            let ticket = try tickets.check(
                text, .console, of: visit.session.holder, request: visit.path, now: visit.now)
            return (ticket, false)
        } catch {
            switch error {
            case .forged: throw .fromElsewhere
            case .expired(let ticket): return (ticket, true)
            }
        }
    }

    /// Checks the proof of a form that came to the path of this visit.
    func checkTicket(_ text: String, of visit: Visit) throws(PageProblem) -> Ticket {
        do {
            return try tickets.check(
                text, .console, of: visit.session.holder, request: visit.path, now: visit.now)
        } catch {
            switch error {
            case .forged: throw .fromElsewhere
            case .expired: throw .pageExpired
            }
        }
    }
}
