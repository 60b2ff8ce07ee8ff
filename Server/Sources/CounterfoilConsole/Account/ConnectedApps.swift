import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// `/account` and `/account/apps/{client_id}`: the consents of a user, and the forms that withdraw them.
struct ConnectedApps: Sendable {
    let console: Console

    /// The values of the form field `decision`.
    private enum Decision: String {
        case save
        case disconnect
    }

    func list(_ visit: Console.Visit) async throws -> Reply {
        let person = visit.person
        let titles = try await titles(visit)
        var applications: [ConnectedApp] = []
        let consents = try await console.store.consents(of: person.id)
        for facts in consents { applications.append(await application(facts, titles, visit)) }
        let page = AccountPage(
            console: console.head(visit, in: .account),
            notice: try await notice(consents, visit),
            person: AccountHolder(
                name: DisplayName(of: person),
                username: person.username.rawValue, email: person.email?.rawValue
            ),
            paths: console.accountPaths(at: .applications),
            applications: applications
        )
        return Reply(.ok, .page(page))
    }

    func show(_ visit: Console.Visit) async throws -> Reply {
        let facts = try await facts(visit)
        return Reply(.ok, .page(try await page(facts, visit)))
    }

    /// Withdraws some or all of the permissions of an app.
    func change(_ visit: Console.Visit) async throws -> Reply {
        let (form, _) = try console.form(visit)
        guard let id = visit.request.parameters.clientID else { throw NotFoundError() }
        let kept: Scope
        switch Decision(rawValue: try form.value("decision")) {
        // The consent and the client are not read, so that an app with a value that this version does not know can be
        // disconnected.
        case .disconnect: kept = Scope()
        case .save:
            let facts = try await facts(visit)
            kept = try Self.kept(of: facts.consent.scope, form)
            guard !kept.isEmpty else { return try await nothingKept(facts, visit) }
        case nil: throw PageProblem.noDecision
        }
        let event = console.event(
            kept.isEmpty ? .revocation : .consent, by: visit, client: id,
            detail: kept.isEmpty ? RevocationReason.person.rawValue : "reduced to: \(kept)")
        let outcome = try await console.store.narrowConsent(
            of: visit.person.id, to: id, keeping: kept, at: visit.now, recording: [event])
        guard outcome == .narrowed else { throw NotFoundError() }
        console.auditor.countRecorded(event)
        let notice: AccountNotice = kept.isEmpty ? .disconnected : .permissionsSaved
        return .done(notice, of: id, at: console.path(.account))
    }

    /// Returns the confirmation of the last action; nil if there is none.
    ///
    /// Access tokens of an app stay valid until they expire (RFC 9068), so the confirmation says for how long.
    private func notice(_ consents: [ConsentFacts], _ visit: Console.Visit) async throws -> String? {
        guard let notice = visit.noticed(AccountNotice.self) else { return nil }
        var clients: [RegisteredClient] = []
        var leftover = Leftover.ofApp
        switch notice {
        case .disconnected, .permissionsSaved:
            let text = try? FormParameters(parsing: visit.request.query).single(Reply.clientParameter)
            guard let id = text.flatMap({ ClientIdentifier($0) }) else { break }
            let client = try await StoreFault.supported { () async throws(StoreFault) in
                try await console.registry.atArrival().client(id)
            }
            if let client { clients.append(client) }
        case .passwordChanged:
            clients = consents.map(\.client)
            leftover = .ofApps
        case .sessionEnded, .sessionOver, .othersEnded: break
        }
        guard let lifetime = clients.map(accessTokenLifetime).max() else { return visit.words(notice) }
        return visit.words(notice) + " " + text(leftover, for: lifetime, visit)
    }

    /// The sentences that state for how long access tokens stay valid.
    private enum Leftover: String, LocalizationKey {
        case ofApp = "account.application.tokens-end"
        case ofApps = "account.password.tokens-end"
    }

    private func accessTokenLifetime(of client: RegisteredClient) -> Int {
        client.policy.accessTokenLifetime ?? console.settings.accessTokenLifetime
    }

    private func text(_ leftover: Leftover, for seconds: Int, _ visit: Console.Visit) -> String {
        visit.words(LocalizedText(leftover, ["duration": .nested(.duration(seconds: seconds))]))
    }

    /// Returns the scopes that the user keeps according to the form.
    ///
    /// `openid` is always kept, because the client cannot sign users in without it. The user can withdraw it only by
    /// disconnecting the app.
    private static func kept(of scope: Scope, _ form: PageForm) throws -> Scope {
        var kept: [Scope.Token] = []
        for token in scope.tokens {
            if isNeeded(token, in: scope) {
                kept.append(token)
            } else if try form.value("permission.\(token.rawValue)") == "granted" {
                kept.append(token)
            }
        }
        return Scope(kept)
    }

    private static func isNeeded(_ token: Scope.Token, in scope: Scope) -> Bool { token == .openID }

    private func nothingKept(_ facts: ConsentFacts, _ visit: Console.Visit) async throws -> Reply {
        var page = try await page(facts, visit)
        page.problems = [FormProblem(visit.words(LocalizedText("account.application.nothing-kept")))]
        for index in page.permissions.indices { page.permissions[index].isGranted = false }
        return Reply(.badRequest, .page(page))
    }

    /// Returns the user's consent to the client in the path; throws `NotFoundError` if there is none.
    private func facts(_ visit: Console.Visit) async throws -> ConsentFacts {
        guard let id = visit.request.parameters.clientID,
            let consent = try await console.store.consent(of: visit.person.id, to: id),
            let client = try await console.registry.atArrival().client(id)
        else { throw NotFoundError() }
        return ConsentFacts(consent: consent, client: client)
    }

    private func page(_ facts: ConsentFacts, _ visit: Console.Visit) async throws -> ConnectedAppPage {
        let titles = try await titles(visit)
        let client = facts.client
        let action = console.path(.connectedApp, of: client.id)
        return ConnectedAppPage(
            console: console.head(visit, in: .account),
            paths: console.accountPaths(at: .applications),
            application: await application(facts, titles, visit),
            allowed: visit.words.date(facts.consent.allowedAt),
            privacyURI: client.presentation.privacyURI?.rawValue,
            termsURI: client.presentation.termsURI?.rawValue,
            permissions: facts.consent.scope.tokens.map { token in
                ConnectedAppPage.Permission(
                    scope: token.rawValue, title: titles[token] ?? token.rawValue,
                    isNeeded: Self.isNeeded(token, in: facts.consent.scope)
                )
            },
            tokensEnd: text(.ofApp, for: accessTokenLifetime(of: client), visit),
            action: action,
            ticket: console.ticket(visit, for: action)
        )
    }

    private func application(
        _ facts: ConsentFacts, _ titles: [Scope.Token: String], _ visit: Console.Visit
    ) async -> ConnectedApp {
        let client = facts.client
        return ConnectedApp(
            name: client.nameBesideHost,
            fullName: client.displayName,
            unregistered: client.isUnregistered ? .init(host: client.shownHost(.system)) : nil,
            logo: await console.logoPath(client, visit.now),
            publisher: client.presentation.publisher.map { DisplayName($0) },
            isFirstParty: client.policy.isFirstParty,
            isVouchedFor: client.policy.isVouchedFor,
            permissions: facts.consent.scope.tokens.map { titles[$0] ?? $0.rawValue },
            since: visit.words.date(facts.consent.since),
            lastUsed: facts.consent.lastUsedAt.map { visit.words.ago($0, now: visit.now) },
            path: console.path(.connectedApp, of: client.id)
        )
    }

    /// Returns the descriptions of scopes, in the user's language if the server has a translation.
    private func titles(_ visit: Console.Visit) async throws -> [Scope.Token: String] {
        Dictionary(
            try await console.registry.fresh().scopes().map { ($0.token, visit.words($0)) },
            uniquingKeysWith: { first, _ in first }
        )
    }
}
