import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes
import Logging

/// `/apps/{client_id}`, and below it the page `connect` with the settings to use in the client, and the page `delete`.
struct ClientOverview: Sendable {
    let console: Console
    let challenges: ChallengeReuseDetector

    func show(_ exchange: Console.Exchange) async throws -> Reply {
        let client = try await console.visibleClient(exchange)
        let words = exchange.words
        let schemes = try await console.schemesInUse(by: client.owner, except: client.id)
        let definitions = Dictionary(
            try await console.registry.fresh().scopes().map { ($0.token, words($0)) },
            uniquingKeysWith: { first, _ in first })
        var owner: User?
        if let id = client.owner { owner = try await console.store.user(id) }
        let page = ClientPage(
            console: console.head(exchange, of: client),
            notice: exchange.notice(ClientNotice.self),
            isNew: exchange.noticed(ClientNotice.self)?.isOfRegistration == true,
            client: console.summary(client, exchange),
            suspension: client.suspension.map {
                words(
                    LocalizedText(
                        "applications.suspended-because", ["date": .date($0.at), "reason": .text($0.reason)]))
            },
            waiting: waiting(client, words: words),
            addresses: client.redirectURIs.map { address($0, of: client, schemesInUse: schemes, words: words) },
            trial: client.type.hasRedirectURIs ? trial(client, exchange) : nil,
            origins: client.origins.map { ClientPage.Origin(text: $0.rawValue, isAnyPort: $0.isAnyPort) },
            apps: client.appleApps.map(\.rawValue) + client.androidApps.map(\.description),
            permissions: client.scope.tokens.map {
                ClientPage.Permission(
                    name: $0.rawValue, description: definitions[$0] ?? $0.rawValue,
                    isOptional: client.optionalScope.contains($0),
                    isPending: client.pendingMachineScope.contains($0))
            },
            consentText: client.presentation.consentText.flatMap {
                try? ConsentText(markdown: $0, formats: console.formats).html
            },
            links: links(client.presentation, words: words),
            policy: policy(of: client, words: words),
            refreshes: try await refreshes(of: client, words: words),
            pkceDanger: try await pkceDangers(client, words: words),
            registered: registered(client, owner: owner, words: words),
            use: console.use(try await console.store.use(of: client.id), of: client, exchange),
            developers: try await console.store.developers(of: client.id).map { DisplayName(of: $0.user) },
            paths: console.paths(of: client, at: .overview, exchange),
            authentication: client.authenticationMethods.joined(separator: ", "),
            pendingMachineScope: client.pendingMachineScope.isEmpty
                ? nil
                : words(
                    LocalizedText(
                        "applications.machine-scope-pending",
                        ["scopes": .text(client.pendingMachineScope.description)]))
        )
        return Reply(.ok, .page(page))
    }

    func connect(_ exchange: Console.Exchange) async throws -> Reply {
        let client = try await console.visibleClient(exchange)
        let apis = try await console.registry.fresh().resources()
        return Reply(.ok, .page(ConnectPage(client, apis: apis, console: console, exchange: exchange)))
    }

    func askToDelete(_ exchange: Console.Exchange) async throws -> Reply {
        let client = try await console.clientToDelete(exchange)
        let record = try await StoreFault.supported { () async throws(StoreFault) in
            try await console.registry.atArrival().client(client.id)
        }
        let isOwn = client.owner == exchange.user.id
        let action = console.path(.deleteClient, of: client.id)
        let page = DeleteClientPage(
            console: console.head(exchange, in: isOwn ? .clients : .administration),
            client: record.map { console.summary($0, exchange) }
                ?? ClientSummary(
                    clientID: client.id.rawValue, name: DisplayName(client.id.rawValue), typeName: "",
                    isVouchedFor: false, path: listPath(isOwn: isOwn)),
            action: action, ticket: console.ticket(exchange, for: action))
        return Reply(.ok, .page(page))
    }

    private func listPath(isOwn: Bool) -> String { console.path(isOwn ? .clients : .administration) }

    func delete(_ exchange: Console.Exchange) async throws -> Reply {
        let client = try await console.clientToDelete(exchange)
        _ = try console.form(exchange)
        _ = try await console.clients(by: exchange).delete(client.id)
        console.logger.notice(
            "deleted a client",
            metadata: [
                "client_id": "\(client.id)", "user": "\(exchange.user.id)", "request": "\(exchange.request.id)",
            ])
        return .done(ClientNotice.deleted, at: listPath(isOwn: client.owner == exchange.user.id))
    }

    private func address(
        _ uri: RedirectURI, of client: RegisteredClient, schemesInUse: Set<String>, words: Localizer
    ) -> ClientPage.Address {
        let context = console.rules.context(
            ClientDraft(client), type: client.type, id: client.id, isFirstParty: client.policy.isFirstParty,
            schemesInUse: schemesInUse)
        var found: [RedirectURIWarning] = []
        if case .accepted(_, let warnings) = RedirectURIRegistration.verdict(on: uri.rawValue, for: context) {
            found = warnings
        }
        return ClientPage.Address(
            uri: uri.rawValue,
            kind: words(uri.label(of: client.type)),
            notes: found.filter(\.isNote).map { words($0) },
            warnings: found.filter { !$0.isNote }.map { words($0) },
            examples: RedirectURIPreview.examples(
                for: uri, of: client, issuer: console.settings.issuer,
                callbackOrigin: console.settings.callbackOrigin,
                allowsDevelopment: console.settings.allowsDevelopmentRedirectURIs
            )
            .map { ClientPage.Example($0, words: words) }
        )
    }

    private func links(_ presentation: ClientPresentation, words: Localizer) -> [ClientPage.PolicySetting] {
        [
            presentation.privacyURI.map {
                ClientPage.PolicySetting(words(LocalizedText("applications.form.privacy")), $0.rawValue)
            },
            presentation.termsURI.map {
                ClientPage.PolicySetting(words(LocalizedText("applications.form.terms")), $0.rawValue)
            },
        ].compactMap(\.self)
    }

    /// Matches the redirect URI in the query parameter `uri` against those of the client.
    private func trial(_ client: RegisteredClient, _ exchange: Console.Exchange) -> ClientPage.TriedRedirectURI {
        var trial = ClientPage.TriedRedirectURI(action: console.path(.client, of: client.id))
        guard let tried = try? FormParameters(parsing: exchange.request.query).single("uri") else { return trial }
        trial.uri = String(tried.prefix(RedirectURIRegistration.byteLimit))
        switch RedirectURIMatching.verdict(
            on: tried, of: client, asksForOpenID: false, issuer: console.settings.issuer,
            callbackOrigin: console.settings.callbackOrigin,
            allowsDevelopment: console.settings.allowsDevelopmentRedirectURIs)
        {
        case .matches(let match):
            trial.matches = true
            trial.why = exchange.words(match)
        case .refused(let refusal):
            trial.matches = false
            trial.why = exchange.words(refusal)
            if let nearest = refusal.nearest(to: tried, of: client) {
                trial.nearest = nearest.registered.rawValue
                trial.differences = nearest.differences.map { exchange.words($0) }
            }
        }
        return trial
    }

    /// Returns the PKCE exceptions and reused code challenges of a client, in sentences; nil if there are none.
    private func pkceDangers(_ client: RegisteredClient, words: Localizer) async throws -> String? {
        let repeated = challenges.lastRepetition(of: client.id).map {
            words(LocalizedText("applications.pkce.challenge-reused", ["date": .date($0)]))
        }
        let dangers = [try await pkceException(client, words: words), repeated].compactMap(\.self)
        return dangers.isEmpty ? nil : dangers.joined(separator: " ")
    }

    private func pkceException(_ client: RegisteredClient, words: Localizer) async throws -> String? {
        let use = try await console.store.pkceExceptionUse(of: client.id)
        let exception: String
        switch client.policy.pkce {
        case .s256, .s256OrNonce:
            guard let use else { return nil }
            return words(
                LocalizedText(
                    "applications.pkce.used-before", ["count": .number(use.count), "date": .date(use.lastAt)]))
        case .s256OrPlain:
            exception = words(LocalizedText("applications.pkce.plain-danger"))
        case .optional:
            exception = words(LocalizedText("applications.pkce.optional-danger"))
        case .exemptUntil(let day):
            exception = words(LocalizedText("applications.pkce.exempt-danger", ["day": .text(day.description)]))
        }
        guard let use else {
            return exception + " "
                + words(
                    client.policy.pkce == .s256OrPlain
                        ? LocalizedText("applications.pkce.plain-never-used")
                        : LocalizedText("applications.pkce.never-used"))
        }
        return exception + " "
            + words(LocalizedText("applications.pkce.used", ["count": .number(use.count), "date": .date(use.lastAt)]))
    }

    /// Says who can sign in before an administrator approves a client; nil if every user can.
    private func waiting(_ client: RegisteredClient, words: Localizer) -> String? {
        if client.isPending { return words(LocalizedText("applications.waits")) }
        guard client.isInDevelopment else { return nil }
        let names = client.testers.map(\.rawValue).joined(separator: ", ")
        return words(
            names.isEmpty
                ? LocalizedText("applications.development-alone")
                : LocalizedText("applications.development-with", ["names": .text(names)]))
    }

    private func registered(_ client: RegisteredClient, owner: User?, words: Localizer) -> String {
        guard let owner else {
            return words(LocalizedText("applications.registered-by-operator", ["date": .date(client.createdAt)]))
        }
        let name = DisplayName(of: owner)
        return words(
            LocalizedText("applications.registered-by", ["date": .date(client.createdAt), "name": .name(name)]))
    }
}

extension RedirectURI {
    /// Returns the localized name of the kind of URI, which depends on the client type.
    fileprivate func label(of type: ClientType) -> LocalizedText {
        switch kind {
        case .loopback where isForDevelopment(of: type): LocalizedText("applications.kind.development")
        case .loopback: LocalizedText("applications.kind.loopback")
        case .privateUseScheme: LocalizedText("applications.kind.private-use-scheme")
        case .https where type == .native: LocalizedText("applications.kind.claimed-https")
        case .https: LocalizedText("applications.kind.https")
        }
    }
}
