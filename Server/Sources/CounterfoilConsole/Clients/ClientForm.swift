import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Logging

/// `/apps/new` and `/apps/{client_id}/edit`: the forms that register and change a client.
struct ClientForm: Sendable {
    let console: Console

    /// Shows the choice of a client type, or the empty form of the chosen type.
    func showNew(_ exchange: Console.Exchange) async throws -> Reply {
        guard console.settings.registration.isOpen(to: exchange.user) else { throw RegistrationClosedError() }
        let asked = try? FormParameters(parsing: exchange.request.query).single("type")
        guard let type = asked.flatMap(ClientType.init(rawValue:)) else {
            let choices = ClientType.allCases.map { type in
                ClientTypesPage.Choice(
                    type: type.rawValue, name: exchange.words(type.label), meaning: exchange.words(type.meaning),
                    path: console.path(.newClient) + "?type=\(type.rawValue)")
            }
            let page = ClientTypesPage(
                console: console.head(exchange, in: .clients), choices: choices,
                clientsPath: console.path(.clients))
            return Reply(.ok, .page(page))
        }
        return try await page(
            exchange, draft: ClientDraft(startingFor: type, without: try await reservedScope(exchange)), type: type,
            of: nil)
    }

    func register(_ exchange: Console.Exchange) async throws -> Reply {
        guard console.settings.registration.isOpen(to: exchange.user) else { throw RegistrationClosedError() }
        let (form, ticket, delay) = try await console.formOrDelay(exchange)
        let draft = try ClientDraft(form)
        guard let type = ClientType(rawValue: try form.value(ClientField.type.rawValue)) else {
            return .seeOther(console.path(.newClient))
        }
        // The identifier of the new client is derived from the ticket of the page. A form that is sent twice therefore
        // registers only one client.
        guard let id = ClientIdentifier(registeredFrom: ticket.interaction) else { throw PageProblem.fromElsewhere }
        func again(_ problems: [ClientProblem], _ status: HTTPResponse.Status = .badRequest) async throws -> Reply {
            try await page(
                exchange, draft: draft, type: type, of: nil, problems: problems, interaction: ticket.interaction,
                status: status)
        }
        if try form.value("action") == "check" { return try await again([], .ok) }
        if let delay { return try await again([ClientProblem(.whole, delay)]) }

        // `draft` stays as entered, so that a refused form is shown with the boxes that the developer left empty.
        var completed = draft
        let reserved = try await reservedScope(exchange)
        let notice =
            completed.useStandardScopes(for: type, without: reserved)
            ? ClientNotice.registeredWithStandardScopes : .registered
        let schemes = try await console.schemesInUse(by: exchange.user.id, except: id)
        let checked: CheckedClient
        do {
            checked = try console.rules.check(completed, type: type, id: id, isFirstParty: false, schemesInUse: schemes)
        } catch {
            return try await again(error.problems)
        }
        if let problems = Self.problems(checked, of: nil, addingOf: reserved) { return try await again(problems) }
        var policy = ClientPolicy.standard(for: type)
        policy.isVouchedFor = exchange.user.may(.writeClients)
        var client = RegisteredClient(
            id: id, type: type, owner: exchange.user.id, checked, policy: policy,
            approval: exchange.user.may(.writeClients) ? .approved : console.settings.newClients.approval(),
            now: exchange.now)
        if exchange.user.may(.writeClients) { client.approveRegisteredMachineScope() }
        let secret = type.isConfidential && checked.keys == nil ? ClientSecret(random: console.random) : nil
        let events = console.events(ofChange: "registered", from: nil, to: client, by: exchange)
        let outcome = try await console.store.addClient(
            client,
            logo: nil,
            secret: secret.map {
                ClientSecretRecord(digest: ArtefactDigest(of: $0), clientID: id, createdAt: exchange.now)
            },
            ownerLimit: console.settings.clientsPerDeveloper,
            recording: events
        )
        switch outcome {
        case .added:
            break
        case .identifierTaken, .identifierBeingFreed:
            // The form was sent before. The client that it registered can be deleted since then.
            let isLeft = try await console.store.clientOwnership(id) != nil
            return .seeOther(isLeft ? console.path(.client, of: id) : console.path(.clients))
        case .ownerNotFound:
            // The user was deleted during the request. The next page asks for a sign-in.
            return .seeOther(console.path(.clients))
        case .unknownScopes(let unknown):
            return try await again(Self.problems(unknown))
        case .tooMany:
            return try await again([ClientProblem(.whole, .tooManyClients)])
        }
        console.logger.notice(
            "registered a client",
            metadata: [
                "client_id": "\(id)", "user": "\(exchange.user.id)", "type": "\(type.rawValue)",
                "request": "\(exchange.request.id)",
            ])
        console.auditor.countRecorded(events)
        if let secret {
            return try await ClientSecrets(console: console).page(
                exchange, client: client, newSecret: secret, notice: notice == .registered ? nil : notice)
        }
        return .done(notice, at: console.path(.client, of: id))
    }

    func showEdit(_ exchange: Console.Exchange) async throws -> Reply {
        let client = try await console.accessibleClient(exchange).client
        return try await page(exchange, draft: ClientDraft(client), type: client.type, of: client)
    }

    func change(_ exchange: Console.Exchange) async throws -> Reply {
        let accessible = try await console.accessibleClient(exchange)
        let client = accessible.client
        let (form, _, delay) = try await console.formOrDelay(exchange)
        var draft = try ClientDraft(form)
        draft.accept(registrationOf: client)
        if !client.isInDevelopment { draft.testers = client.testers.map(\.rawValue) }
        func again(_ problems: [ClientProblem], _ status: HTTPResponse.Status = .badRequest) async throws -> Reply {
            try await page(exchange, draft: draft, type: client.type, of: client, problems: problems, status: status)
        }
        if try form.value("action") == "check" { return try await again([], .ok) }
        guard Int(try form.value("revision")) == client.revision else {
            return try await again([ClientProblem(.whole, .changedMeanwhile)], .conflict)
        }
        if let delay { return try await again([ClientProblem(.whole, delay)]) }
        let schemes = try await console.schemesInUse(by: client.owner, except: client.id)
        let checked: CheckedClient
        do {
            checked = try console.rules.check(
                draft, type: client.type, id: client.id, isFirstParty: client.policy.isFirstParty,
                schemesInUse: schemes)
        } catch {
            return try await again(error.problems)
        }
        let reserved = try await reservedScope(exchange)
        if let problems = Self.problems(checked, of: client, addingOf: reserved) { return try await again(problems) }
        let changed = client.rewritten(
            checked, byAdministrator: accessible.byAdministrator, unapproved: console.settings.newClients,
            now: exchange.now)
        // Pairwise subject identifiers depend on the host of the redirect URIs (OpenID Connect Core §8.1). If the host
        // changed, the users of the client would get other identifiers. The developer could then learn the identifiers
        // that other clients with the new host get.
        guard accessible.byAdministrator || client.keepsNames(as: changed) else {
            return try await again([ClientProblem(.redirectURIs, .hostOfSubjectIdentifiers)])
        }
        let events = console.events(ofChange: "changed", from: client, to: changed, by: exchange)
        switch try await console.store.updateClient(changed, logo: .keep, recording: events) {
        case .updated:
            console.auditor.countRecorded(events)
            return .done(ClientNotice.saved, at: console.path(.client, of: client.id))
        case .changedMeanwhile: return try await again([ClientProblem(.whole, .changedMeanwhile)], .conflict)
        case .notFound: throw NotFoundError()
        case .unknownScopes(let unknown): return try await again(Self.problems(unknown))
        }
    }

    /// Reads the scopes that the user cannot add to a client; an administrator can add each.
    private func reservedScope(_ exchange: Console.Exchange) async throws -> Scope {
        exchange.user.may(.writeClients) ? Scope() : try await console.reservedScope()
    }

    /// Returns the problems that a developer adds reserved scopes; nil if there is none.
    private static func problems(
        _ checked: CheckedClient, of client: RegisteredClient?, addingOf reserved: Scope
    ) -> [ClientProblem]? {
        let added = checked.scope.subtracting(client?.scope ?? Scope()).intersection(reserved)
        guard !added.isEmpty else { return nil }
        return added.tokens.map { ClientProblem(.scopes, .reservedScope, ["name": .text($0.rawValue)]) }
    }

    static func problems(_ unknown: Scope) -> [ClientProblem] {
        unknown.tokens.map { ClientProblem(.scopes, .unknownScope, ["name": .text($0.rawValue)]) }
    }

    private func page(
        _ exchange: Console.Exchange, draft: ClientDraft, type: ClientType, of client: RegisteredClient?,
        problems: [ClientProblem] = [], interaction: InteractionIdentifier? = nil,
        status: HTTPResponse.Status = .ok
    ) async throws -> Reply {
        let words = exchange.words
        let interaction = interaction ?? InteractionIdentifier(random: console.random)
        let subject =
            client.map(RedirectURIVerdicts.Subject.init)
            ?? RedirectURIVerdicts.Subject(
                type: type, id: ClientIdentifier(registeredFrom: interaction), owner: exchange.user.id)
        let verdicts = try await RedirectURIVerdicts(console: console).rows(draft, of: subject, words: words)
        func problem(_ field: ClientField) -> String? {
            let said = problems.filter { $0.field == field }
            // The reason for a refused redirect URI is shown at its line, so the field shows only the number of
            // refused lines.
            let isRefusedLine = { (problem: ClientProblem) in
                field == .redirectURIs && problem.text.key == ClientProblem.Reason.redirectURIRefused.rawValue
            }
            let refused = said.count(where: isRefusedLine)
            let texts =
                (refused == 0
                    ? [] : [words(LocalizedText(ClientProblem.Reason.linesRefused, ["count": .number(refused)]))])
                + said.filter { !isRefusedLine($0) }.map { words($0.text) }
            return texts.isEmpty ? nil : texts.joined(separator: " ")
        }
        func field(_ field: ClientField, _ value: String) -> FormField {
            FormField(field.rawValue, value, problem: problem(field))
        }
        func lines(_ field: ClientField, _ values: [String], _ verdicts: [FormVerdict] = []) -> FormLines {
            FormLines(field.rawValue, values, problem: problem(field), verdicts: verdicts)
        }
        let action =
            client.map { console.path(.editClient, of: $0.id) } ?? console.path(.newClient)
        let addresses = ClientFormPage.Addresses(
            redirectURIs: lines(.redirectURIs, draft.redirectURIs, verdicts), verdictPath: console.path(.verdicts),
            allowsDevelopment: console.settings.allowsDevelopmentRedirectURIs,
            postLogoutRedirectURIs: lines(.postLogoutRedirectURIs, draft.postLogoutRedirectURIs),
            backchannelLogoutURI: field(.backchannelLogoutURI, draft.backchannelLogoutURI))
        let platforms = ClientFormPage.Platforms(
            appleApps: lines(.appleApps, draft.appleApps), androidApps: lines(.androidApps, draft.androidApps))
        let isInDevelopment =
            client?.isInDevelopment
            ?? (!exchange.user.may(.writeClients) && console.settings.newClients == .development && type != .service)
        let known = try await console.registry.fresh().scopes()
        let policy: ClientPolicy = client?.policy ?? .standard(for: type)
        // A service has no refresh tokens, and those of other clients can be independent of the scope.
        let needsOfflineAccess = type != .service && policy.refreshTokens == .offlineAccess
        let lifetime = policy.accessTokenLifetime ?? console.settings.accessTokenLifetime
        let offlineAccess = words(
            LocalizedText("applications.form.offline-access", ["duration": .nested(.duration(seconds: lifetime))]))
        let scopes = (known.filter { $0.token == .openID } + known.filter { $0.token != .openID }).map { scope in
            let isReserved =
                scope.isReserved && !exchange.user.may(.writeClients) && client?.scope.contains(scope.token) != true
            return ClientFormPage.ScopeChoice(
                name: scope.token.rawValue, description: words(scope),
                isAssigned: draft.scopes.contains(scope.token.rawValue),
                isOptional: draft.optionalScopes.contains(scope.token.rawValue),
                canBeOptional: scope.token != .openID,
                hint: isReserved
                    ? words(LocalizedText("applications.form.reserved"))
                    : scope.token == .offlineAccess && needsOfflineAccess ? offlineAccess : nil,
                isReserved: isReserved)
        }
        var loss = ApprovalLoss()
        if let client { loss = try await console.approvalLoss(byChanging: client, exchange) }
        let scopeProblems = [problem(.scopes), problem(.optionalScopes)].compactMap(\.self)
        let page = ClientFormPage(
            console: console.head(exchange, in: client.map { console.part(of: $0, exchange) } ?? .clients),
            client: client.map { console.summary($0, exchange) },
            paths: client.map { console.paths(of: $0, at: .edit, exchange) },
            type: type.rawValue,
            typeName: words(type.label),
            problems: problems.map { FormProblem(words($0.text), field: $0.field.fieldName) },
            action: action,
            ticket: console.ticket(exchange, for: action, interaction: interaction),
            revision: client?.revision ?? 0,
            name: field(.name, draft.name),
            publisher: field(.publisher, draft.publisher),
            addresses: type.hasRedirectURIs ? addresses : nil,
            platforms: type == .native ? platforms : nil,
            origins: type == .singlePage ? lines(.origins, draft.origins) : nil,
            testers: isInDevelopment ? lines(.testers, draft.testers) : nil,
            endsApproval: loss.signIns,
            losesReserved: loss.reservedScopes,
            scopes: scopes,
            apisPath: console.path(.availableAPIs),
            scopeProblem: scopeProblems.isEmpty ? nil : scopeProblems.joined(separator: " "),
            consentText: field(.consentText, draft.consentText),
            privacyURI: field(.privacyURI, draft.privacyURI),
            termsURI: field(.termsURI, draft.termsURI),
            cancelPath: client.map { console.path(.client, of: $0.id) } ?? console.path(.clients),
            keys: type.isConfidential ? field(.keys, draft.keys) : nil,
            settings: ClientFormPage.LibrarySettings(draft, type: type, of: client, words: words, problem: problem),
            opensMore: draft.hasMore(for: type) || problems.contains { !$0.field.isAlwaysVisible }
        )
        return Reply(status, .page(page))
    }
}

extension ClientField {
    /// The field beside which the page shows a problem with this field; nil for a problem of the whole form.
    ///
    /// The problems of `optionalScopes` are shown beside `scopes`.
    fileprivate var fieldName: String? {
        switch self {
        case .whole: nil
        case .optionalScopes: ClientField.scopes.rawValue
        default: rawValue
        }
    }
}

extension ClientField {
    /// Whether the form shows the field without a click.
    fileprivate var isAlwaysVisible: Bool {
        switch self {
        case .whole, .name, .redirectURIs, .scopes, .optionalScopes, .testers: true
        default: false
        }
    }
}

extension ClientDraft {
    /// Returns whether a field that the form shows only after a click has another value than in a new registration.
    fileprivate func hasMore(for type: ClientType) -> Bool {
        let policy = ClientPolicy.standard(for: type)
        var usual = ClientDraft()
        usual.name = name
        usual.redirectURIs = redirectURIs
        usual.scopes = scopes
        usual.optionalScopes = optionalScopes
        usual.testers = testers
        // An empty choice keeps the standard one.
        usual.pkce = pkce.isEmpty ? "" : policy.pkce.description
        usual.idTokenAlgorithm = idTokenAlgorithm.isEmpty ? "" : policy.idTokenAlgorithm.rawValue
        usual.userClaimsInIDToken = userClaimsInIDToken.isEmpty ? "" : String(policy.putsUserClaimsInIDToken)
        return self != usual
    }

    init(_ form: PageForm) throws {
        self.init()
        func value(_ field: ClientField) throws -> String { try form.value(field.rawValue) }
        func lines(_ field: ClientField) throws -> [String] {
            try value(field).split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
                .filter { !$0.isEmpty }
        }
        name = try value(.name)
        publisher = try value(.publisher)
        redirectURIs = try lines(.redirectURIs)
        scopes = form.all(ClientField.scopes.rawValue)
        optionalScopes = form.all(ClientField.optionalScopes.rawValue)
        testers = try lines(.testers)
        consentText = try value(.consentText)
        privacyURI = try value(.privacyURI)
        termsURI = try value(.termsURI)
        origins = try lines(.origins)
        appleApps = try lines(.appleApps)
        androidApps = try lines(.androidApps)
        keys = try value(.keys)
        postLogoutRedirectURIs = try lines(.postLogoutRedirectURIs)
        backchannelLogoutURI = try value(.backchannelLogoutURI)
        pkce = try value(.pkce)
        idTokenAlgorithm = try value(.idTokenAlgorithm)
        userClaimsInIDToken = try value(.userClaimsInIDToken)
    }
}
