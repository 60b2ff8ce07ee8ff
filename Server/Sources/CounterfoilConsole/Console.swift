import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes
import Logging

/// The services that the pages for signed-in users share: sessions, anti-CSRF tokens, the page head and the
/// audit log.
struct Console: Sendable {
    let settings: ServerSettings
    let registry: CachedRegistry
    let store: any UncachedStore
    let sessions: SessionManager
    let tickets: TicketAuthority
    let users: SignIn
    /// The queue of mails; nil if no mail is set up.
    let mails: MailQueue?
    let formats: ContentFormats
    let random: RandomBytes
    let logger: Logger
    let auditor: Auditor
    /// The clock of the store.
    let clock: @Sendable () -> Date
    /// Returns the changes of accounts that an administrator makes in one request.
    let administration: @Sendable (User, IncomingRequest, Date) -> UserAdministration
    /// The claims that clients get about users.
    let claimPreviews: ClaimPreviews
    /// Returns the changes of signing keys, the certificate and registration tokens at a time, with their events.
    let serverAdministration:
        @Sendable (Date, @escaping @Sendable (AuditEvent.Kind, String) -> AuditEvent) -> ServerAdministration
    /// The reporter of the installation; nil if the program of the server has none.
    let reporter: (any InstallationReporter)?
    /// The test mails of administrators; nil if no mail is set up.
    let testMails: TestMails?
    let serverChecks: PartyLimiter
    let lifetime: ServerLifetime
    let leaseHolder: LeaseHolder
    /// Returns the changes of the users who manage a client that a user makes in one request.
    let team: @Sendable (User, IncomingRequest, Date) -> ClientTeam
    let developerQuestions: PartyLimiter
    /// The creation of invitations.
    let invitations: Invitations
    /// Returns the changes of webhooks that an administrator makes in one request.
    let webhookChanges: @Sendable (UserIdentifier, IncomingRequest, Date) -> WebhookAdministration
    /// Returns the path of the logo of a client at a time; nil if it has none.
    let logoPath: @Sendable (RegisteredClient, Date) async -> String?

    init(_ components: ServerComponents) {
        settings = components.settings
        registry = components.registry
        store = components.store
        sessions = components.sessions
        tickets = components.tickets
        users = components.users
        mails = components.mails
        formats = components.formats
        random = components.random
        logger = components.logger
        auditor = components.auditor
        clock = components.clock
        administration = { components.administration(by: $0, in: $1, now: $2) }
        claimPreviews = components.claimPreviews
        serverAdministration = { components.serverAdministration(at: $0, recording: $1) }
        reporter = components.reporter
        testMails = components.testMails
        serverChecks = components.serverChecks
        lifetime = components.lifetime
        leaseHolder = components.leaseHolder
        team = { components.team(of: $0, in: $1, now: $2) }
        developerQuestions = components.developerQuestions
        invitations = components.invitations
        webhookChanges = { components.webhookAdministration(by: $0, in: $1, now: $2) }
        logoPath = { await components.logoPath(of: $0, now: $1) }
    }

    /// The rules of client registration.
    var rules: ClientRules { ClientRules(settings, formats: formats) }

    /// The maximum length in bytes of the path and query to which the browser returns after a sign-in.
    ///
    /// If they are longer, the browser returns to the path without the query.
    private static let targetLimit = 2048

    /// A request of a signed-in user.
    struct Exchange: Sendable {
        let endpoint: Endpoint
        let request: IncomingRequest
        let session: LiveSession
        let now: Date
        let words: Localizer
        /// Whether the user signed in recently enough for the page; false only for a submitted form.
        let isRecent: Bool
        /// Whether the account has a page for the second factor.
        let offersSecondFactor: Bool
        /// Whether the user manages the client in the path with its owner.
        let isDeveloper: Bool

        var user: User { session.user }
        /// The path of the request, without the query.
        var path: String { String((request.head.path ?? "").prefix { $0 != "?" }) }
    }

    /// An error for a request that needs a sign-in, or a more recent one.
    struct SignInNeeded: Error {
        /// The path and query to continue at after the sign-in.
        let path: String
        /// Whether the request submitted a form, whose values are lost.
        var losesForm = false

        /// The query parameter of the sign-in page that reports a lost form.
        static let lostParameter = "lost"

        /// Returns the URL of the sign-in page, with `path` in the parameter `to`.
        func url(issuer: Issuer) -> String {
            var query = FormParameters(["to": path])
            if losesForm { query.append(Self.lostParameter, "form") }
            return issuer.endpoint(Endpoint.consoleSignIn.path) + "?" + query.encoded
        }
    }

    /// An error for a request of a user who has not accepted the terms of the service.
    struct TermsNeeded: Error {
        /// The path and query to continue at.
        let path: String

        /// Returns the URL of the page with the terms, with `path` in the parameter `to`.
        func url(issuer: Issuer) -> String {
            issuer.endpoint(Endpoint.terms.path) + "?" + FormParameters(["to": path]).encoded
        }
    }

    /// Creates the event of a change that a signed-in user makes, for the commit of the change.
    ///
    /// - Parameter time: The time of the event; nil for that of the request.
    func event(
        _ kind: AuditEvent.Kind, by exchange: Exchange, client: ClientIdentifier? = nil, detail: String? = nil,
        at time: Date? = nil
    ) -> AuditEvent {
        auditor.event(
            kind, by: exchange.request, user: exchange.user.id, client: client, detail: detail,
            now: time ?? exchange.now)
    }

    /// Creates the event of a change of the ways in of a signed-in user, with the notice to the user.
    func event(of change: AccountChange, by exchange: Exchange) async throws -> AuditEvent {
        try await auditor.event(of: change, to: exchange.user, by: exchange.request, now: exchange.now)
    }

    /// Returns the changes of clients that a user makes in one request.
    func clients(by exchange: Exchange) -> ClientAdministration {
        ClientAdministration(
            store, at: exchange.now,
            recording: { kind, user, client, detail in
                auditor.event(
                    kind, by: exchange.request, user: user ?? exchange.user.id, client: client, detail: detail,
                    now: exchange.now)
            }, counting: { auditor.countRecorded($0) })
    }

    /// Creates the events of a change of a client: the change itself, and the scopes that the client gained or lost for
    /// requests without a user.
    func events(
        ofChange detail: String, from former: RegisteredClient?, to client: RegisteredClient, by exchange: Exchange
    ) -> [AuditEvent] {
        let change = event(.client, by: exchange, client: client.id, detail: detail)
            .named(former == nil ? .clientCreated : nil)
        guard let access = MachineAccessChange(from: former, to: client) else { return [change] }
        return [change, event(.machineAccess, by: exchange, client: client.id, detail: access.detail)]
    }

    /// Records that the password check of a signed-in user was refused.
    func refuse(
        _ kind: AuditEvent.Kind, because cause: SignIn.Cause, _ exchange: Exchange, for purpose: String? = nil
    ) async {
        await auditor.refuse(kind, because: cause, of: exchange.request, for: purpose, now: exchange.now)
    }

    /// Authenticates a request by its session, or throws ``SignInNeeded``, or ``TermsNeeded`` except for a sign-out.
    ///
    /// A submitted form gets through without a recent sign-in, so that its typed values are not lost: see
    /// ``check(_:of:)`` and ``requireRecentSignIn(_:losingForm:)``.
    func exchange(_ request: IncomingRequest, at endpoint: Endpoint, now: Date) async throws -> Exchange {
        let isForm = request.head.method == .post
        let session = try await sessions.current(request, now: now)
        let isRecent = session.map { isRecentEnough($0, for: endpoint, now: now) } ?? false
        guard let session, isForm || isRecent else {
            throw SignInNeeded(path: Self.target(of: request), losesForm: isForm)
        }
        guard endpoint == .signOut || settings.unacceptedTerms(of: session.user) == nil else {
            throw TermsNeeded(path: Self.target(of: request))
        }
        var isDeveloper = false
        if let client = request.parameters.clientID {
            isDeveloper = try await store.isDeveloper(session.user.id, of: client)
        }
        return Exchange(
            endpoint: endpoint, request: request, session: session, now: now, words: request.words, isRecent: isRecent,
            offersSecondFactor: try await offersSecondFactor(to: session.user), isDeveloper: isDeveloper)
    }

    /// Returns true unless the server offers no second factor and the user has none that could be turned off.
    private func offersSecondFactor(to user: User) async throws -> Bool {
        guard settings.secondFactor == .off else { return true }
        return try await store.secondFactor(of: user.id) != .none
    }

    private static func target(of request: IncomingRequest) -> String {
        let target = request.head.path ?? ""
        return target.utf8.count <= targetLimit ? target : String(target.prefix { $0 != "?" })
    }

    /// Throws ``SignInNeeded`` if a form was submitted too long after the sign-in.
    ///
    /// - Parameters:
    ///   - exchange: The request with the form.
    ///   - losesForm: Whether the user has to enter something again.
    func requireRecentSignIn(_ exchange: Exchange, losingForm losesForm: Bool = false) throws {
        guard exchange.isRecent else {
            throw SignInNeeded(path: Self.target(of: exchange.request), losesForm: losesForm)
        }
    }

    /// Returns whether the user signed in recently enough for a page.
    ///
    /// The page of the password asks for the current one. A user who has none signs in again instead. A user with a
    /// role who has signed in at another issuer signs in here: with a way in that the session added, that issuer could
    /// reach the rights of the role.
    func isRecentEnough(_ session: LiveSession, for endpoint: Endpoint, now: Date) -> Bool {
        guard !session.lacksRole || endpoint == .signOut else { return false }
        let isNeeded =
            endpoint.needsRecentSignIn
            || endpoint.path == Endpoint.password.path && session.user.passwordHash == nil
        return !isNeeded
            || now.timeIntervalSince(session.authenticatedAt) < TimeInterval(settings.recentSignInAge)
    }

    /// Creates the head of a page.
    ///
    /// - Parameters:
    ///   - exchange: The request.
    ///   - part: The part of the console to which the page belongs; nil for none.
    ///   - mayChange: Whether the user may submit the forms of the page; nil for the answer of the endpoint.
    func head(_ exchange: Exchange, in part: ConsoleHead.Part?, mayChange: Bool? = nil) -> ConsoleHead {
        let prefix = settings.issuer.path
        return ConsoleHead(
            userDisplayName: DisplayName(of: exchange.user),
            mayChange: mayChange
                ?? (exchange.endpoint.audience.admission(of: exchange.user, changing: true) == .admitted),
            registersClients: settings.registration.isOpen(to: exchange.user),
            part: part,
            paths: ConsoleHead.Paths(
                clients: prefix + Endpoint.clients.path,
                account: prefix + Endpoint.account.path,
                administration: path(.overview, for: exchange),
                signOut: prefix + Endpoint.signOut.path
            ),
            signOutTicket: ticket(exchange, for: prefix + Endpoint.signOut.path),
            confirmation: exchange.isRecent ? nil : FormField(PasswordPage.currentField)
        )
    }

    /// Returns the path of an endpoint, preceded by the path of the issuer.
    func path(_ endpoint: Endpoint) -> String { settings.issuer.path + endpoint.path }

    /// Returns the path of an endpoint with `client` in place of `{client_id}`, preceded by the path of the issuer.
    func path(_ endpoint: Endpoint, of client: ClientIdentifier) -> String {
        settings.issuer.path + endpoint.path(of: client)
    }

    /// Returns the path of an endpoint with `user` in place of `{user_id}`, preceded by the path of the issuer.
    func path(_ endpoint: Endpoint, of user: UserIdentifier) -> String {
        settings.issuer.path + endpoint.path(of: user)
    }

    /// Issues the anti-CSRF token (ticket) of a form, which is bound to the path and query that the form posts to.
    ///
    /// The token expires only when the idle session would expire too, so that a user who fills in the form slowly loses
    /// no typed value.
    func ticket(_ exchange: Exchange, for path: String, interaction: InteractionIdentifier? = nil) -> String {
        tickets.issue(
            .console, to: exchange.session.holder, request: path,
            interaction: interaction ?? InteractionIdentifier(random: random),
            expires: exchange.now.addingTimeInterval(TimeInterval(settings.sessionIdleLifetime))
        )
    }

    /// Parses the form of a request that has only buttons, and checks its ticket.
    ///
    /// Throws `PageProblem.pageExpired` for an expired ticket, and ``SignInNeeded`` if the sign-in is too long ago for
    /// the page.
    func form(_ exchange: Exchange) throws -> (form: PageForm, ticket: Ticket) {
        let form = try PageForm(exchange.request, issuer: settings.issuer)
        let (ticket, isLate) = try checkTicketOrLate(try form.value("ticket"), of: exchange)
        try requireRecentSignIn(exchange)
        guard !isLate else { throw PageProblem.pageExpired(again: address(of: exchange)) }
        return (form, ticket)
    }

    /// Parses the form of a request, and checks it as ``check(_:of:)`` does.
    func formOrDelay(_ exchange: Exchange) async throws -> (form: PageForm, ticket: Ticket, delay: FormDelay?) {
        let form = try PageForm(exchange.request, issuer: settings.issuer)
        let (ticket, delay) = try await check(form, of: exchange)
        return (form, ticket, delay)
    }

    /// Checks the ticket of a form, and that the user signed in recently enough for the page or typed the password into
    /// the form.
    ///
    /// - Returns: The ticket, and the reason why the caller must change nothing and show the form again with the typed
    ///   values; nil if there is none.
    func check(_ form: PageForm, of exchange: Exchange) async throws -> (ticket: Ticket, delay: FormDelay?) {
        let (ticket, isLate) = try checkTicketOrLate(try form.value("ticket"), of: exchange)
        if exchange.isRecent { return (ticket, isLate ? .expired : nil) }
        // The password alone is half of a sign-in, or the user has none.
        let hasPassword = exchange.user.passwordHash != nil
        guard hasPassword, try await store.secondFactor(of: exchange.user.id) == .none else {
            throw SignInNeeded(path: Self.target(of: exchange.request), losesForm: true)
        }
        let password = try form.value(PasswordPage.currentField)
        if password.isEmpty { return (ticket, .passwordNeeded) }
        if isLate { return (ticket, .expired) }
        switch try await users.confirm(exchange.user, password: password, in: exchange.request, now: exchange.now) {
        case .refused(let cause):
            await refuse(.signIn, because: cause, exchange, for: "confirmation of a change")
            return (ticket, .passwordWrong)
        case .tooEarly(_, let cause):
            await refuse(.throttled, because: cause, exchange, for: "confirmation of a change")
            return (ticket, .tooManyAttempts)
        case .signedIn(let user):
            guard user.id == exchange.user.id else { throw SignInNeeded(path: exchange.path) }
            return (ticket, nil)
        }
    }

    /// Returns the URL at which the user can open the page of a form again.
    ///
    /// The sign-in page leads there at once if the user has signed in recently, and to the account page if the URL of
    /// the form has no page.
    private func address(of exchange: Exchange) -> String {
        SignInNeeded(path: Self.target(of: exchange.request)).url(issuer: settings.issuer)
    }

    /// Checks the ticket of a form, and reports in `isLate` whether it has expired.
    ///
    /// Even an expired ticket must belong to this session and page. For an expired ticket, the caller must change
    /// nothing, and show the form again with the typed values.
    func checkTicketOrLate(
        _ text: String, of exchange: Exchange
    ) throws(PageProblem) -> (ticket: Ticket, isLate: Bool) {
        do {
            let ticket = try tickets.check(
                text, .console, of: exchange.session.holder, request: exchange.request.head.path ?? "",
                now: exchange.now)
            return (ticket, false)
        } catch {
            switch error {
            case .forged: throw .pageOutdated(again: address(of: exchange))
            case .expired(let ticket): return (ticket, true)
            }
        }
    }
}
