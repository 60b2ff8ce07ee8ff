import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// `/account` and `/account/apps/{client_id}`: the consents of a user, and the forms that withdraw them.
struct ConnectedClients: Sendable {
    let console: Console

    /// The values of the form field `decision`.
    private enum Decision: String {
        case save
        case disconnect
    }

    func list(_ exchange: Console.Exchange) async throws -> Reply {
        let user = exchange.user
        let titles = try await console.titles(exchange)
        var clients: [ConnectedClient] = []
        let consents = try await console.store.consents(of: user.id)
        for facts in consents { clients.append(await connectedClient(facts, titles, exchange)) }
        let passkeys = PasskeySettings(console: console)
        let page = AccountPage(
            console: console.head(exchange, in: .account),
            notice: try await notice(consents, exchange),
            user: AccountHolder(
                name: DisplayName(of: user),
                username: user.username.rawValue, email: user.email?.rawValue,
                verificationPath: console.verificationPath(for: user), emailPath: console.emailPath,
                role: user.role.map { exchange.words($0.label) },
                roleMeaning: user.role.map { exchange.words($0.meaning) }
            ),
            paths: console.accountPaths(at: .clients, exchange),
            clients: clients,
            attributes: AttributeList(try await console.store.attributes(of: user.id)),
            offer: try await passkeys.upgrade(exchange),
            signal: try await passkeys.signal(exchange)
        )
        return Reply(.ok, .page(page))
    }

    func show(_ exchange: Console.Exchange) async throws -> Reply {
        let facts = try await facts(exchange)
        return Reply(.ok, .page(try await page(facts, exchange)))
    }

    /// Withdraws some or all of the permissions of an app.
    func change(_ exchange: Console.Exchange) async throws -> Reply {
        let (form, _) = try console.form(exchange)
        guard let id = exchange.request.parameters.clientID else { throw NotFoundError() }
        let kept: Scope
        switch Decision(rawValue: try form.value("decision")) {
        // The consent and the client are not read, so that an app with a value that this version does not know can be
        // disconnected.
        case .disconnect: kept = Scope()
        case .save:
            let facts = try await facts(exchange)
            kept = try Self.kept(of: facts.consent.scope, form)
            guard !kept.isEmpty else { return try await nothingKept(facts, exchange) }
        case nil: throw PageProblem.noDecision
        }
        let event = console.event(
            kept.isEmpty ? .revocation : .consent, by: exchange, client: id,
            detail: kept.isEmpty ? RevocationReason.user.rawValue : "reduced to: \(kept)")
        let outcome = try await console.store.narrowConsent(
            of: exchange.user.id, to: id, keeping: kept, at: exchange.now, recording: [event])
        guard outcome == .narrowed else { throw NotFoundError() }
        console.auditor.countRecorded(event)
        let notice: AccountNotice = kept.isEmpty ? .disconnected : .permissionsSaved
        return .done(notice, of: id, at: console.path(.account))
    }

    /// Returns the confirmation of the last action; nil if there is none.
    ///
    /// Access tokens of an app stay valid until they expire (RFC 9068), so the confirmation says for how long. After a
    /// new password, it also mentions the passkeys, which still sign the user in.
    private func notice(_ consents: [ConsentFacts], _ exchange: Console.Exchange) async throws -> String? {
        guard let notice = exchange.noticed(AccountNotice.self) else { return nil }
        var clients: [RegisteredClient] = []
        var leftover = LeftoverText.ofClient
        var sentences = [exchange.words(notice)]
        switch notice {
        case .disconnected:
            guard let id = exchange.noticedClient, !consents.contains(where: { $0.client.id == id }),
                let rest = try await EndedAccess(console: console).after(disconnecting: id, exchange)
            else { break }
            return exchange.words(notice) + " " + rest
        case .permissionsSaved:
            guard let id = exchange.noticedClient else { break }
            let client = try await StoreFault.supported { () async throws(StoreFault) in
                try await console.registry.atArrival().client(id)
            }
            if let client { clients.append(client) }
        case .passwordChanged, .passwordAdded, .passwordRemoved:
            clients = consents.map(\.client)
            leftover = .ofClients
            if notice != .passwordRemoved, try await !console.store.passkeys(of: exchange.user.id).isEmpty {
                sentences.append(exchange.words(LeftoverText.passkeys))
            }
        case .sessionEnded, .sessionOver, .othersEnded, .appEnded, .appOver, .passkeyAdded, .passkeyRenamed,
            .passkeyRemoved, .passkeyGone, .secondFactorOff, .keyAdded, .keyRemoved, .keyGone, .identityRemoved:
            break
        }
        if let lifetime = clients.map(accessTokenLifetime).max() {
            sentences.append(text(leftover, for: lifetime, exchange))
        }
        return sentences.joined(separator: " ")
    }

    /// The sentences that state what an action does not end.
    private enum LeftoverText: String, LocalizationKey {
        case ofClient = "account.application.tokens-end"
        case ofClients = "account.password.tokens-end"
        case passkeys = "account.password.passkeys-stay"
    }

    private func accessTokenLifetime(of client: RegisteredClient) -> Int {
        client.policy.accessTokenLifetime ?? console.settings.accessTokenLifetime
    }

    private func text(_ leftover: LeftoverText, for seconds: Int, _ exchange: Console.Exchange) -> String {
        exchange.words(LocalizedText(leftover, ["duration": .nested(.duration(seconds: seconds))]))
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

    private func nothingKept(_ facts: ConsentFacts, _ exchange: Console.Exchange) async throws -> Reply {
        var page = try await page(facts, exchange)
        page.problems = [FormProblem(exchange.words(LocalizedText("account.application.nothing-kept")))]
        for index in page.permissions.indices { page.permissions[index].isGranted = false }
        return Reply(.badRequest, .page(page))
    }

    /// Returns the user's consent to the client in the path; throws `NotFoundError` if there is none.
    private func facts(_ exchange: Console.Exchange) async throws -> ConsentFacts {
        guard let id = exchange.request.parameters.clientID,
            let consent = try await console.store.consent(of: exchange.user.id, to: id),
            let client = try await console.registry.atArrival().client(id)
        else { throw NotFoundError() }
        return ConsentFacts(consent: consent, client: client)
    }

    private func page(_ facts: ConsentFacts, _ exchange: Console.Exchange) async throws -> ConnectedClientPage {
        let titles = try await console.titles(exchange)
        let client = facts.client
        let action = console.path(.connectedClient, of: client.id)
        return ConnectedClientPage(
            console: console.head(exchange, in: .account),
            paths: console.accountPaths(at: .clients, exchange),
            client: await connectedClient(facts, titles, exchange),
            allowed: exchange.words.date(facts.consent.allowedAt),
            privacyURI: client.presentation.privacyURI?.rawValue,
            termsURI: client.presentation.termsURI?.rawValue,
            permissions: facts.consent.scope.tokens.map { token in
                ConnectedClientPage.Permission(
                    scope: token.rawValue, title: titles[token] ?? token.rawValue,
                    isNeeded: Self.isNeeded(token, in: facts.consent.scope)
                )
            },
            tokensEnd: text(.ofClient, for: accessTokenLifetime(of: client), exchange),
            action: action,
            ticket: console.ticket(exchange, for: action)
        )
    }

    private func connectedClient(
        _ facts: ConsentFacts, _ titles: [Scope.Token: String], _ exchange: Console.Exchange
    ) async -> ConnectedClient {
        let client = facts.client
        return ConnectedClient(
            name: client.nameBesideHost,
            fullName: client.displayName,
            unregistered: client.isUnregistered ? .init(host: client.shownHost(.system)) : nil,
            logo: await console.logoPath(client, exchange.now),
            publisher: client.presentation.publisher.map { DisplayName($0) },
            isFirstParty: client.policy.isFirstParty,
            isVouchedFor: client.policy.isVouchedFor,
            permissions: facts.consent.scope.tokens.map { titles[$0] ?? $0.rawValue },
            since: exchange.words.date(facts.consent.since),
            lastUsed: facts.consent.lastUsedAt.map { exchange.words.ago($0, now: exchange.now) },
            path: console.path(.connectedClient, of: client.id)
        )
    }
}
