@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// `/admin/users/invitations`: the form that invites a person, and the invitations that are not used.
struct InvitationForm: Sendable {
    let console: Console

    /// The number of invitations on the page.
    private static let limit = 200

    /// The values as they were typed.
    private struct Draft {
        var email = ""
        var role = ""
        var client = ""
        var days = String(Invitations.standardDays)
        var language = ""
    }

    func show(_ exchange: Console.Exchange) async throws -> Reply { try await page(Draft(), exchange) }

    func change(_ exchange: Console.Exchange) async throws -> Reply {
        let form = try PageForm(exchange.request, issuer: console.settings.issuer)
        switch try form.value("decision") {
        case "invite": return try await invite(form, exchange)
        case "withdraw": return try await withdraw(exchange)
        default: throw PageProblem.noDecision
        }
    }

    private func invite(_ form: PageForm, _ exchange: Console.Exchange) async throws -> Reply {
        let (_, delay) = try await console.check(form, of: exchange)
        let draft = Draft(
            email: try form.value("email"), role: try form.value("role"),
            client: try form.value("client"), days: try form.value("days"), language: try form.value("language"))
        if let delay { return try await page(draft, exchange, [FormProblem(exchange.words(delay))]) }
        guard console.settings.signUp != .closed else { return try await page(draft, exchange, status: .conflict) }
        var problems: [FormProblem] = []
        func refuse(_ field: String, _ message: UserMessage) {
            problems.append(FormProblem(exchange.words(message), field: field))
        }
        let email = EmailAddress(draft.email)
        if email == nil, !draft.email.trimmingWhitespace().isEmpty { refuse("email", .badEmail) }
        let client = try await client(draft)
        if client == nil, !draft.client.trimmingWhitespace().isEmpty { refuse("client", .noClient) }
        let days = Int(draft.days.trimmingWhitespace()).flatMap { (1...30).contains($0) ? $0 : nil }
        if days == nil { refuse("days", .badDays) }
        let role = draft.role.isEmpty ? .noRole : UserQuery.Role(rawValue: draft.role)
        if role == nil { refuse("role", .noChoice) }
        guard problems.isEmpty, let days else { return try await page(draft, exchange, problems) }

        if let given = role?.role {
            try console.administration(exchange.user, exchange.request, exchange.now).check(assigning: given)
        }
        var invitation = Invitations.Draft(email: email, role: role?.role, clientID: client, days: days)
        if email != nil, console.mails != nil {
            invitation.mailLanguage = Language(rawValue: draft.language) ?? exchange.words.language
        }
        var events: [AuditEvent] = []
        let outcome = try await console.invitations.invite(invitation, now: exchange.now) {
            let event = event($1, of: $0, exchange)
            events.append(event)
            return event
        }
        switch outcome {
        case .invited(_, let link):
            console.auditor.countRecorded(events)
            guard let link else { return .done(UserNotice.invited, at: console.path(.invitations)) }
            return try await page(Draft(), exchange, link: link)
        case .emailTaken: refuse("email", .emailTaken)
        case .tooMany:
            let message = LocalizedText(UserMessage.tooManyInvitations, ["count": .number(Invitation.limit)])
            problems.append(FormProblem(exchange.words(message)))
        case .queueFull:
            problems.append(FormProblem(exchange.words(UserMessage.queueFull)))
            return try await page(draft, exchange, problems, status: .serviceUnavailable)
        }
        return try await page(draft, exchange, problems, status: .conflict)
    }

    private func withdraw(_ exchange: Console.Exchange) async throws -> Reply {
        let (form, _) = try console.form(exchange)
        let id = try form.value("invitation")
        // A form that is sent twice finds no invitation, because the first one has deleted it.
        let invitation = try await console.store.invitations().first { $0.shortID == id }
        if let role = invitation?.role {
            try console.administration(exchange.user, exchange.request, exchange.now).check(assigning: role)
        }
        var events: [AuditEvent] = []
        if let invitation,
            try await console.store.withdraw(
                invitation,
                recording: {
                    let event = event($0, of: invitation, exchange)
                    events.append(event)
                    return event
                })
        {
            console.auditor.countRecorded(events)
        }
        return .done(UserNotice.withdrawn, at: console.path(.invitations))
    }

    /// Creates an event of an administrator about the account of another person, who has none yet.
    private func event(_ detail: String, of invitation: Invitation, _ exchange: Console.Exchange) -> AuditEvent {
        console.event(
            .account, by: exchange, client: invitation.clientID, detail: AuditEvent.otherAccountPrefix + detail)
    }

    private func client(_ draft: Draft) async throws -> ClientIdentifier? {
        guard let id = ClientIdentifier(draft.client.trimmingWhitespace()),
            let client = try await console.registry.atArrival().invitableClient(id)
        else { return nil }
        return client.id
    }

    private func page(
        _ draft: Draft, _ exchange: Console.Exchange, _ problems: [FormProblem] = [], link: String? = nil,
        status: HTTPResponse.Status? = nil
    ) async throws -> Reply {
        let words = exchange.words
        func field(_ name: String, _ value: String) -> FormField {
            FormField(name, value, problem: problems.first { $0.field == name }?.text)
        }
        let invitations = try await console.store.invitations()
        let shown = invitations.prefix(Self.limit)
        let registry = try await console.registry.atArrival()
        var names: [ClientIdentifier: DisplayName] = [:]
        for id in Set(shown.compactMap(\.clientID)) {
            let client = try await StoreFault.supported { () async throws(StoreFault) in try await registry.client(id) }
            names[id] = client?.displayName ?? DisplayName(id.rawValue)
        }
        let language = draft.language.isEmpty ? words.language.rawValue : draft.language
        let action = console.path(.invitations)
        let page = InvitationsPage(
            console: console.head(exchange, in: .administration),
            notice: exchange.notice(UserNotice.self),
            problems: problems,
            listPath: console.path(.users),
            isClosed: console.settings.signUp == .closed,
            link: link,
            email: field("email", draft.email),
            role: exchange.roles(
                chosen: UserQuery.Role(rawValue: draft.role)?.role, problem: problems.first { $0.field == "role" }?.text
            ),
            client: field("client", draft.client),
            days: field("days", draft.days),
            language: console.mails == nil
                ? nil
                : FormChoices(
                    "language",
                    Language.allCases.map {
                        FormChoices.Choice($0.rawValue, label: $0.ownName, isChosen: $0.rawValue == language)
                    }),
            rows: shown.map { invitation in
                InvitationsPage.Row(
                    id: invitation.shortID, email: invitation.email?.rawValue, isMailed: invitation.isMailed,
                    role: invitation.role.map { words($0.label) }, client: invitation.clientID.flatMap { names[$0] },
                    created: words.moment(invitation.createdAt), expires: words.moment(invitation.expiresAt),
                    hasExpired: invitation.expiresAt <= exchange.now,
                    isWithdrawable: invitation.role.map { exchange.user.role?.mayAssign($0) == true } ?? true)
            },
            count: String(invitations.count),
            excess: invitations.count > Self.limit
                ? words(LocalizedText(UserMessage.invitationExcess, ["count": .number(Self.limit)])) : nil,
            action: action,
            ticket: console.ticket(exchange, for: action))
        return Reply(status ?? (problems.isEmpty ? .ok : .badRequest), .page(page))
    }
}
