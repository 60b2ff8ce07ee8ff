@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// `/admin/users/{user_id}`: the account of a user, and the forms that change it.
struct UserAccount: Sendable {
    let console: Console

    /// The hours for which a link works.
    private static let linkHours = 24
    /// The number of consents on the page.
    private static let consentLimit = 50

    /// The values of the form field `decision`.
    private enum Decision: String {
        case link
        case edit, disable, enable, role
        case end, export
        case endApp = "end-app"
        case signOut = "sign-out"
        case removePasskey = "remove-passkey"
        case resetSecondFactor = "reset-second-factor"
    }

    /// The parts of the page that depend on a form.
    private struct Answer {
        var problems: [FormProblem] = []
        var status = HTTPResponse.Status.ok
        /// The values as they were typed; nil for those of the account.
        var typed: Typed?
        /// A new link by which the user sets a password; nil for none.
        var link: String?
    }

    /// The name and the email address of the form.
    private struct Typed {
        let displayName: String
        let email: String
        let isEmailVerified: Bool
    }

    func show(_ exchange: Console.Exchange) async throws -> Reply {
        try await page(try await overview(exchange), exchange)
    }

    func change(_ exchange: Console.Exchange) async throws -> Reply {
        let form = try PageForm(exchange.request, issuer: console.settings.issuer)
        let decision = Decision(rawValue: try form.value("decision"))
        guard decision != .edit else { return try await edit(form, exchange) }
        _ = try console.form(exchange)
        guard let user = exchange.request.parameters.userID else { throw NotFoundError() }
        let changes = console.administration(exchange.user, exchange.request, exchange.now)
        switch decision {
        case .disable: return try await standing(try await changes.disable(user), .disabled, exchange)
        case .enable: return try await standing(try await changes.enable(user), .enabled, exchange)
        case .role:
            guard let role = UserQuery.Role(rawValue: try form.value("role")) else { throw PageProblem.noDecision }
            return try await standing(try await changes.setRole(role.role, of: user), .roleSaved, exchange)
        case .signOut:
            _ = try await overview(exchange)
            try await changes.signOutEverywhere(user)
            return done(.signedOut, user)
        case .link:
            let overview = try await overview(exchange)
            let link = try await changes.createLink(
                for: user, hours: Self.linkHours, at: console.settings.issuer)
            guard let link else {
                let problem = FormProblem(exchange.words(UserMessage.linkOfDisabled))
                return try await page(overview, exchange, Answer(problems: [problem], status: .conflict))
            }
            return try await page(overview, exchange, Answer(link: link.url))
        case .export: return try await UserExportDownload(console: console).send(user, exchange)
        case .end:
            guard let digest = try digest(in: "session", of: form) else { return done(.gone, user) }
            return done(try await changes.endSession(digest, of: user) ? .sessionEnded : .gone, user)
        case .endApp:
            let id = GrantIdentifier(try form.value(SignedInApps.field))
            guard let id, try await changes.endAppSignIn(id, of: user) else { return done(.gone, user) }
            return .done(UserNotice.appEnded, under: id, at: console.path(.user, of: user))
        case .removePasskey:
            guard let digest = try digest(in: "passkey", of: form) else { return done(.gone, user) }
            let overview = try await overview(exchange)
            switch try await changes.removePasskey(digest, of: overview.user) {
            case .removed: return done(.passkeyRemoved, user)
            case .notFound: return done(.gone, user)
            case .neededAsWayIn:
                let problem = FormProblem(exchange.words(UserMessage.lastWayIn))
                return try await page(overview, exchange, Answer(problems: [problem], status: .conflict))
            }
        case .resetSecondFactor:
            let isReset = try await changes.resetSecondFactor(of: try await overview(exchange).user)
            return done(isReset ? .secondFactorReset : .gone, user)
        case .edit, nil: throw PageProblem.noDecision
        }
    }

    private func done(_ notice: UserNotice, _ user: UserIdentifier) -> Reply {
        .done(notice, at: console.path(.user, of: user))
    }

    private func digest(in field: String, of form: PageForm) throws -> ArtefactDigest? {
        Base64URL.decode(try form.value(field)).flatMap(ArtefactDigest.init(stored:))
    }

    private func standing(
        _ outcome: ChangeStandingOutcome, _ notice: UserNotice, _ exchange: Console.Exchange
    ) async throws -> Reply {
        switch outcome {
        case .changed, .unchanged:
            guard let user = exchange.request.parameters.userID, user != exchange.user.id else {
                // A user with fewer rights, or disabled, may have no such page any more.
                return .seeOther(console.path(.account))
            }
            return done(notice, user)
        case .notFound: throw NotFoundError()
        case .lastOwner, .changedMeanwhile:
            let message = outcome == .lastOwner ? UserMessage.lastOwner : .changedMeanwhile
            let problem = FormProblem(exchange.words(message))
            return try await page(
                try await overview(exchange), exchange, Answer(problems: [problem], status: .conflict))
        }
    }

    private func edit(_ form: PageForm, _ exchange: Console.Exchange) async throws -> Reply {
        let (_, delay) = try await console.check(form, of: exchange)
        let overview = try await overview(exchange)
        let typed = Typed(
            displayName: try form.value("display_name"), email: try form.value("email"),
            isEmailVerified: try form.value("email_verified") == "on")
        func again(_ problems: [FormProblem], _ status: HTTPResponse.Status = .badRequest) async throws -> Reply {
            try await page(overview, exchange, Answer(problems: problems, status: status, typed: typed))
        }
        func problem(_ message: UserMessage, _ field: String) -> FormProblem {
            FormProblem(exchange.words(message), field: field)
        }
        guard try form.value("revision") == overview.user.revision else {
            return try await again([FormProblem(exchange.words(UserMessage.changedMeanwhile))], .conflict)
        }
        if let delay { return try await again([FormProblem(exchange.words(delay))]) }
        let displayName = typed.displayName.trimmingWhitespace()
        let address = EmailAddress(typed.email)
        var problems: [FormProblem] = []
        if !displayName.isDisplayName { problems.append(problem(.badDisplayName, "display_name")) }
        if address == nil, !typed.email.trimmingWhitespace().isEmpty { problems.append(problem(.badEmail, "email")) }
        guard problems.isEmpty else { return try await again(problems) }
        var user = overview.user
        user.displayName = displayName
        // The box is about the address that the page has shown, which is ticked if it is verified.
        user.changeEmail(to: address, isVerified: address == user.email ? typed.isEmailVerified : nil)
        let changes = console.administration(exchange.user, exchange.request, exchange.now)
        switch try await changes.update(user, from: overview.user) {
        case .updated: return done(.saved, user.id)
        case .changedMeanwhile:
            return try await again([FormProblem(exchange.words(UserMessage.changedMeanwhile))], .conflict)
        case .emailTaken: return try await again([problem(.emailTaken, "email")], .conflict)
        case .notFound: throw NotFoundError()
        }
    }

    private func overview(_ exchange: Console.Exchange) async throws -> UserOverview {
        guard let id = exchange.request.parameters.userID, let user = try await console.store.userOverview(id) else {
            throw NotFoundError()
        }
        return user
    }

    private func page(
        _ overview: UserOverview, _ exchange: Console.Exchange, _ answer: Answer = Answer()
    ) async throws -> Reply {
        let (user, words) = (overview.user, exchange.words)
        func problem(_ field: String) -> String? { answer.problems.first { $0.field == field }?.text }
        let consents = try await console.store.consents(of: user.id, after: nil, limit: Self.consentLimit + 1)
        let clients = try await console.store.clients(of: user.id)
        // The user was deleted a moment ago.
        guard let counts = try await console.store.removalCounts(of: user.id) else { throw NotFoundError() }
        let action = console.path(.user, of: user.id)
        let refusal = try await console.administration(exchange.user, exchange.request, exchange.now)
            .refusal(actingOn: user)
        let mayChange = exchange.user.may(.writeUsers)
        let page = UserAccountPage(
            console: console.head(exchange, in: .administration, mayChange: refusal == nil),
            notice: try await notice(user.id, exchange),
            problems: answer.problems,
            listPath: console.path(.users),
            name: DisplayName(of: user),
            username: user.username.rawValue,
            id: user.id.rawValue,
            address: user.email?.rawValue,
            isEmailVerified: user.profile.isEmailVerified == true,
            role: user.role.map { words($0.label) },
            roleMeaning: user.role.map { words($0.meaning) },
            roles: user.role.map { exchange.user.role?.mayAssign($0) == true } ?? true
                ? exchange.roles(chosen: user.role) : nil,
            stronger: mayChange ? refusal.map { words($0.explanation) } : nil,
            isSelf: user.id == exchange.user.id,
            isDisabled: user.disabledAt != nil,
            created: words.date(user.createdAt),
            lastSignIn: overview.lastSignInAt.map { words.ago($0, now: exchange.now) },
            displayName: FormField(
                "display_name", answer.typed?.displayName ?? user.displayName, problem: problem("display_name")),
            email: FormField("email", answer.typed?.email ?? user.email?.rawValue ?? "", problem: problem("email")),
            emailVerified: FormCheck(
                "email_verified", isOn: answer.typed?.isEmailVerified ?? (user.profile.isEmailVerified == true)),
            attributes: AttributeList(try await console.store.attributes(of: user.id)),
            attributesPath: console.path(.userClaims, of: user.id),
            hasPassword: user.passwordHash != nil,
            passkeys: try await console.store.passkeys(of: user.id).map { passkey in
                UserAccountPage.PasskeyRow(
                    id: Base64URL.encode(passkey.digest.bytes), name: DisplayName(passkey.name),
                    added: words.date(passkey.createdAt),
                    lastUsed: passkey.lastUse.map { words.ago($0.time, now: exchange.now) })
            },
            secondFactor: secondFactor(try await console.store.secondFactor(of: user.id), words),
            rows: try await SignedInBrowsers(console: console).rows(of: user, exchange),
            apps: try await SignedInApps(console: console).list(of: user.id, exchange),
            consents: consents.prefix(Self.consentLimit).map { facts in
                UserAccountPage.ConsentRow(
                    name: facts.client.displayName, scope: facts.consent.scope.description,
                    allowed: words.date(facts.consent.allowedAt),
                    lastUsed: facts.consent.lastUsedAt.map { words.ago($0, now: exchange.now) })
            },
            counts: UserAccountPage.Counts(
                sessions: words(counts.sessions.text), consents: words(counts.consents.text),
                clients: words(counts.clients.text), events: words(counts.events.text)),
            consentExcess: consents.count > Self.consentLimit
                ? words(LocalizedText(UserMessage.consentExcess, ["count": .number(Self.consentLimit)])) : nil,
            clients: clients.map { console.summary($0, exchange) },
            linksClients: exchange.user.may(.readClients),
            auditPath: console.path(.audit, for: exchange).map { path in
                path + "?" + FormParameters([AuditFilter.Field.person.rawValue: user.username.rawValue]).encoded
            },
            canExport: console.reporter != nil,
            deletePath: console.path(.deleteUser, of: user.id),
            action: action,
            ticket: console.ticket(exchange, for: action),
            revision: user.revision,
            link: answer.link,
            isEditing: answer.typed != nil)
        return Reply(answer.status, .page(page))
    }

    private func secondFactor(_ state: SecondFactorState, _ words: Localizer) -> String? {
        switch state {
        case .none: nil
        case .lost: words(UserMessage.secondFactorLost)
        case .active(let factor, let codes):
            words(
                LocalizedText(
                    UserMessage.secondFactorOn, ["date": .date(factor.createdAt), "count": .number(codes)]))
        }
    }

    /// Returns the confirmation of the last action, with what apps can still do after it; nil if there is none.
    private func notice(_ user: UserIdentifier, _ exchange: Console.Exchange) async throws -> String? {
        guard let notice = exchange.noticed(UserNotice.self) else { return nil }
        let ended = EndedAccess(console: console)
        let rest: String? =
            switch notice {
            case .appEnded: try await ended.after(ending: exchange.noticedSignIn, of: user, exchange)
            case .signedOut, .disabled: try await ended.afterEndingAll(of: user, exchange)
            default: nil
            }
        return [exchange.words(notice), rest].compactMap(\.self).joined(separator: " ")
    }
}
