import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Logging

/// `/apps/{client_id}/policy`: the policy that an administrator sets for a client.
struct ClientPolicyForm: Sendable {
    let console: Console

    func show(_ exchange: Console.Exchange) async throws -> Reply {
        let client = try await administered(exchange)
        return try await page(exchange, draft: PolicyDraft(client.policy), of: client)
    }

    func change(_ exchange: Console.Exchange) async throws -> Reply {
        let client = try await administered(exchange)
        let (form, _, delay) = try await console.formOrDelay(exchange)
        let draft = try PolicyDraft(form, of: client)
        func again(_ problems: [ClientProblem], _ status: HTTPResponse.Status = .badRequest) async throws -> Reply {
            try await page(exchange, draft: draft, of: client, problems: problems, status: status)
        }
        guard Int(try form.value("revision")) == client.revision else {
            return try await again([ClientProblem(.whole, .changedMeanwhile)], .conflict)
        }
        if let delay { return try await again([ClientProblem(.whole, delay)]) }
        var changed = client
        do {
            changed.policy = try console.rules.check(
                draft, of: client.type, redirectURIs: client.redirectURIs,
                postLogoutRedirectURIs: client.postLogoutRedirectURIs, scope: client.scope, now: exchange.now)
        } catch { return try await again(error.problems) }
        changed.changedAt = exchange.now
        let events = console.events(
            ofChange: "changed the policy, pkce \(changed.policy.pkce)", from: client, to: changed, by: exchange)
        switch try await console.store.updateClient(changed, logo: .keep, recording: events) {
        case .updated:
            console.auditor.countRecorded(events)
            console.logger.notice(
                "changed the policy of a client",
                metadata: [
                    "client_id": "\(client.id)", "user": "\(exchange.user.id)", "pkce": "\(changed.policy.pkce)",
                    "request": "\(exchange.request.id)",
                ])
            return .done(ClientNotice.saved, at: console.path(.client, of: client.id))
        case .changedMeanwhile: return try await again([ClientProblem(.whole, .changedMeanwhile)], .conflict)
        case .notFound: throw NotFoundError()
        case .unknownScopes(let unknown): return try await again(ClientForm.problems(unknown))
        }
    }

    private func administered(_ exchange: Console.Exchange) async throws -> RegisteredClient {
        try await console.accessibleClient(exchange).client
    }

    private func page(
        _ exchange: Console.Exchange, draft: PolicyDraft, of client: RegisteredClient, problems: [ClientProblem] = [],
        status: HTTPResponse.Status = .ok
    ) async throws -> Reply {
        let words = exchange.words
        let descriptions = Dictionary(
            try await console.registry.fresh().scopes().map { ($0.token, words($0)) },
            uniquingKeysWith: { first, _ in first })
        func problem(_ field: ClientField) -> String? {
            let texts = problems.filter { $0.field == field }.map { words($0.text) }
            return texts.isEmpty ? nil : texts.joined(separator: " ")
        }
        func check(_ field: ClientField, _ isOn: Bool) -> FormCheck {
            FormCheck(field.rawValue, isOn: isOn, problem: problem(field))
        }
        func field(_ field: ClientField, _ value: String) -> FormField {
            FormField(field.rawValue, value, problem: problem(field))
        }
        func choices(
            _ field: ClientField, _ chosen: String, _ all: [(value: String, label: LocalizedText)]
        ) -> FormChoices {
            FormChoices(
                field.rawValue,
                all.map {
                    FormChoices.Choice($0.value, label: words($0.label), isChosen: $0.value == chosen)
                }, problem: problem(field))
        }
        let exemption = PolicyDraft.exemption(in: draft.pkce)
        let signsIn = client.type != .service
        let action = console.path(.clientPolicy, of: client.id)
        let page = PolicyPage(
            console: console.head(exchange, of: client),
            client: console.summary(client, exchange),
            paths: console.paths(of: client, at: .policy, exchange),
            problems: problems.map {
                FormProblem(words($0.text), field: $0.field == .whole ? nil : $0.field.rawValue)
            },
            action: action,
            ticket: console.ticket(exchange, for: action),
            revision: client.revision,
            vouchedFor: check(.vouchedFor, draft.isVouchedFor),
            firstParty: signsIn ? check(.firstParty, draft.isFirstParty) : nil,
            claimedHTTPSVerified: client.type == .native
                ? check(.claimedHTTPSVerified, draft.isClaimedHTTPSVerified) : nil,
            httpsVerified: client.type == .singlePage
                ? check(.claimedHTTPSVerified, draft.isClaimedHTTPSVerified) : nil,
            pkce: signsIn
                ? choices(
                    .pkce, exemption == nil ? draft.pkce : "exempt-until",
                    PKCEPolicy.offered(for: client.type).map { ($0.description, $0.text) } + [
                        ("exempt-until", PolicyLabel.exemptUntilDay.text)
                    ]) : nil,
            exemptUntil: signsIn ? field(.exemptUntil, exemption ?? "") : nil,
            requireState: signsIn ? check(.requireState, draft.requiresState) : nil,
            requirePushedRequests: signsIn ? check(.requirePushedRequests, draft.requiresPushedRequests) : nil,
            requireBoundTokens: check(.requireBoundTokens, draft.requiresBoundTokens),
            refreshTokens: signsIn
                ? choices(
                    .refreshTokens, draft.refreshTokens,
                    RefreshTokenPolicy.allCases.map { ($0.rawValue, $0.label) }) : nil,
            refreshing: signsIn ? refreshing(draft, of: client, words: words, problem: problem) : nil,
            accessTokenLifetime: field(.accessTokenLifetime, draft.accessTokenLifetime),
            idTokenLifetime: signsIn ? field(.idTokenLifetime, draft.idTokenLifetime) : nil,
            webViews: signsIn
                ? choices(.webViews, draft.webViews, WebViewPolicy.allCases.map { ($0.rawValue, $0.label) }) : nil,
            minimumAuthentication: signsIn
                ? choices(
                    .minimumAuthentication, draft.minimumAuthentication,
                    AuthenticationContext.allCases.map { ($0.rawValue, $0.label) }) : nil,
            idTokenAlgorithm: signsIn
                ? FormChoices(
                    ClientField.idTokenAlgorithm.rawValue,
                    KeyRing.algorithms.map {
                        FormChoices.Choice(
                            $0.rawValue, label: $0.rawValue, isChosen: $0.rawValue == draft.idTokenAlgorithm)
                    }, problem: problem(.idTokenAlgorithm)) : nil,
            userClaimsInIDToken: signsIn
                ? FormCheck(
                    ClientField.userClaimsInIDToken.rawValue, isOn: draft.userClaimsInIDToken == "true",
                    problem: problem(.userClaimsInIDToken)) : nil,
            subjectType: signsIn
                ? choices(
                    .subjectType, draft.subjectType, SubjectType.allCases.map { ($0.rawValue, $0.label) }) : nil,
            machineScope: client.machineScopeCandidates.isEmpty
                ? nil
                : FormChoices(
                    ClientField.machineScopes.rawValue,
                    client.machineScopeCandidates.tokens.map { token in
                        FormChoices.Choice(
                            token.rawValue, label: token.rawValue, detail: descriptions[token],
                            isChosen: draft.machineScopes.contains(token.rawValue))
                    }, problem: problem(.machineScopes))
        )
        return Reply(status, .page(page))
    }

    private func refreshing(
        _ draft: PolicyDraft, of client: RegisteredClient, words: Localizer, problem: (ClientField) -> String?
    ) -> PolicyPage.Refreshing {
        var usual = client
        usual.policy.refreshTokenLife = RefreshTokenLife()
        let terms = RefreshTokenTerms(of: usual, settings: console.settings)
        func field(_ field: ClientField, _ value: String) -> FormField {
            FormField(field.rawValue, value, problem: problem(field))
        }
        func choice(_ value: String, _ label: LocalizedText) -> FormChoices.Choice {
            FormChoices.Choice(value, label: words(label), isChosen: value == draft.rotatesRefreshTokens)
        }
        // The refresh tokens of a public client always rotate, so the form offers no choice, unless the draft
        // already contains one.
        let mayKeep = client.type.isConfidential || !draft.rotatesRefreshTokens.isEmpty
        func said(_ time: TimeInterval) -> String { words(.exactly(seconds: Int(time))) }
        return PolicyPage.Refreshing(
            rotation: mayKeep
                ? FormChoices(
                    ClientField.rotatesRefreshTokens.rawValue,
                    [
                        choice("", .asUsual(PolicyLabel(terms.rotates).text)),
                        choice("true", PolicyLabel.yes.text),
                        choice("false", PolicyLabel.no.text),
                    ], problem: problem(.rotatesRefreshTokens)) : nil,
            gracePeriod: field(.refreshGracePeriod, draft.refreshGracePeriod),
            idleLifetime: field(.refreshIdleLifetime, draft.refreshIdleLifetime),
            lifetime: field(.refreshLifetime, draft.refreshLifetime),
            usualGracePeriod: said(terms.gracePeriod),
            usualIdleLifetime: said(terms.idleLifetime),
            usualLifetime: said(terms.lifetime)
        )
    }
}

extension PolicyDraft {
    /// Reads the draft from the form; a setting that the form does not contain keeps the client's value.
    init(_ form: PageForm, of client: RegisteredClient) throws {
        self.init(client.policy)
        func isOn(_ field: ClientField) throws -> Bool { try form.value(field.rawValue) == "on" }
        isVouchedFor = try isOn(.vouchedFor)
        requiresBoundTokens = try isOn(.requireBoundTokens)
        accessTokenLifetime = try form.value(ClientField.accessTokenLifetime.rawValue)
        guard client.type != .service else {
            machineScopes = form.all(ClientField.machineScopes.rawValue)
            return
        }
        isFirstParty = try isOn(.firstParty)
        isClaimedHTTPSVerified = try isOn(.claimedHTTPSVerified)
        requiresState = try isOn(.requireState)
        requiresPushedRequests = try isOn(.requirePushedRequests)
        let chosen = try form.value(ClientField.pkce.rawValue)
        pkce =
            chosen == "exempt-until"
            ? Self.exemptionPrefix + (try form.value(ClientField.exemptUntil.rawValue)) : chosen
        refreshTokens = try form.value(ClientField.refreshTokens.rawValue)
        if refreshTokens != RefreshTokenPolicy.never.rawValue {
            // The page hides these fields if refresh tokens are never issued. The draft then keeps the client's
            // values.
            rotatesRefreshTokens = try form.value(ClientField.rotatesRefreshTokens.rawValue)
            refreshGracePeriod = try form.value(ClientField.refreshGracePeriod.rawValue)
            refreshIdleLifetime = try form.value(ClientField.refreshIdleLifetime.rawValue)
            refreshLifetime = try form.value(ClientField.refreshLifetime.rawValue)
        }
        idTokenLifetime = try form.value(ClientField.idTokenLifetime.rawValue)
        webViews = try form.value(ClientField.webViews.rawValue)
        let minimum = try form.value(ClientField.minimumAuthentication.rawValue)
        if !minimum.isEmpty { minimumAuthentication = minimum }
        idTokenAlgorithm = try form.value(ClientField.idTokenAlgorithm.rawValue)
        userClaimsInIDToken = String(try isOn(.userClaimsInIDToken))
        subjectType = try form.value(ClientField.subjectType.rawValue)
    }
}
