import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import HTTPTypes

/// `/admin/scopes` and the pages below it: the scopes, their texts for users, and what uses them.
struct ScopeRegistry: Sendable {
    let console: Console

    private typealias Problem = ScopeDraft.FieldProblem

    /// The maximum number of clients and grants that are counted for the list.
    static let countLimit = 5000
    /// The maximum number of clients, and of APIs, that the page of a deletion names.
    static let usesLimit = 20
    /// The query parameter with the name of a scope.
    private static let parameter = "scope"

    func list(_ exchange: Console.Exchange) async throws -> Reply {
        let registry = try await console.registry.atArrival()
        let usage = try await console.store.scopeUsage(atMost: Self.countLimit)
        let apis = try await registry.resources()
        let words = exchange.words
        let rows = try await registry.scopes().map { scope in
            let optional = usage.clients(withOptional: scope.token)
            let languages =
                (scope.isTranslated ? Language.allCases.filter { $0 != .standard } : Array(scope.texts.keys))
                .map(\.rawValue).sorted()
            return ScopesPage.Row(
                name: scope.token.rawValue, text: words(scope),
                languages: ([Language.standard.rawValue] + languages).joined(separator: ", "),
                apis: apis.filter { $0.scope.contains(scope.token) }.map { DisplayName($0.name) },
                clients: words.count(
                    usage.clients(withAnyOf: Scope([scope.token])), isWhole: usage.hasAllClients),
                optional: optional == 0
                    ? nil : words(LocalizedText("scopes.optional-in", ["number": .number(optional)])),
                grants: words.count(usage.grants(with: scope.token), isWhole: usage.hasAllGrants),
                isStandard: scope.token.isStandard, isListed: scope.isListed || scope.token.isStandard,
                startsTicked: scope.startsTicked, isReserved: scope.isReserved,
                claims: scope.claims.isEmpty
                    ? nil : scope.claims.names.sorted().map(\.rawValue).joined(separator: ", "),
                path: path(.editScope, of: scope.token))
        }
        let page = ScopesPage(
            console: console.head(exchange, in: .administration),
            paths: AdministrationPaths(console, exchange, at: .scopes),
            notice: exchange.notice(RegistryNotice.self), newPath: console.path(.newScope), rows: rows)
        return Reply(.ok, .page(page))
    }

    func showNew(_ exchange: Console.Exchange) -> Reply { page(exchange, ScopeDraft(), of: nil) }

    func add(_ exchange: Console.Exchange) async throws -> Reply {
        let (form, _, delay) = try await console.formOrDelay(exchange)
        let draft = try ScopeDraft(form)
        if let delay { return page(exchange, draft, of: nil, problems: [Problem(nil, delay)]) }
        do { _ = try await console.administration(by: exchange).add(draft) } catch let refusal as ScopeRefusal {
            return page(exchange, draft, of: nil, problems: refusal.problems)
        }
        return .done(RegistryNotice.scopeCreated, at: console.path(.scopes))
    }

    func showEdit(_ exchange: Console.Exchange) async throws -> Reply {
        let scope = try await scope(exchange)
        return page(exchange, ScopeDraft(scope), of: scope)
    }

    func change(_ exchange: Console.Exchange) async throws -> Reply {
        let scope = try await scope(exchange)
        let (form, _, delay) = try await console.formOrDelay(exchange)
        var draft = try ScopeDraft(form)
        draft.name = scope.token.rawValue
        if scope.token.isStandard { draft.isListed = true }
        func again(_ problems: [Problem], _ status: HTTPResponse.Status = .badRequest) -> Reply {
            page(exchange, draft, of: scope, problems: problems, status: status)
        }
        guard try form.value("revision") == scope.revision else {
            return again([Problem(nil, .changedMeanwhile)], .conflict)
        }
        if let delay { return again([Problem(nil, delay)]) }
        do {
            guard try await console.administration(by: exchange).change(scope, to: draft) != nil else {
                throw NotFoundError()
            }
        } catch let refusal as ScopeRefusal {
            let isConflict = refusal.problems.contains { $0.field == nil }
            return again(refusal.problems, isConflict ? .conflict : .badRequest)
        }
        return .done(RegistryNotice.scopeSaved, at: console.path(.scopes))
    }

    func askToDelete(_ exchange: Console.Exchange) async throws -> Reply {
        try await deletion(exchange, of: try await deletableScope(exchange))
    }

    func delete(_ exchange: Console.Exchange) async throws -> Reply {
        let token = try await deletableScope(exchange)
        let (form, _) = try console.form(exchange)
        let removesFromAll = try form.value("remove_from_all") == "on"
        switch try await console.administration(by: exchange).delete(token, takingFromUses: removesFromAll) {
        case .removed: return .done(RegistryNotice.scopeDeleted, at: console.path(.scopes))
        case .inUse:
            return try await deletion(exchange, of: token, problem: .inUse, status: .conflict)
        case .isStandard, .notFound: throw NotFoundError()
        }
    }

    private func deletion(
        _ exchange: Console.Exchange, of token: Scope.Token, problem: Problem.Reason? = nil,
        status: HTTPResponse.Status = .ok
    ) async throws -> Reply {
        // One more than the page names tells whether there are more.
        let uses = try await console.store.scopeUses(of: token, atMost: Self.usesLimit + 1)
        let registry = try await console.registry.fresh()
        var shown: [DeleteRecordPage.Use] = []
        for id in uses.clients.prefix(Self.usesLimit) {
            shown.append(try await console.use(of: id, in: registry))
        }
        for resource in uses.resources.prefix(Self.usesLimit) {
            let name = try await registry.resource(resource)?.name ?? ""
            shown.append(
                DeleteRecordPage.Use(
                    name: DisplayName(name, orElse: resource.rawValue), id: resource.rawValue,
                    path: console.path(.api, ofAPI: resource)))
        }
        let said = problem.map { exchange.words($0) }
        let page = DeleteRecordPage(
            console: console.head(exchange, in: .administration),
            problems: said.map { [FormProblem($0, field: "remove_from_all")] } ?? [],
            scope: token.rawValue, uses: shown,
            hasMore: max(uses.clients.count, uses.resources.count) > Self.usesLimit,
            removesFromAll: uses.isEmpty ? nil : FormCheck("remove_from_all", problem: said),
            action: path(.deleteScope, of: token),
            ticket: console.ticket(exchange, for: path(.deleteScope, of: token)),
            cancelPath: path(.editScope, of: token), listPath: console.path(.scopes))
        return Reply(status, .page(page))
    }

    private func page(
        _ exchange: Console.Exchange, _ draft: ScopeDraft, of scope: ScopeDefinition?, problems: [Problem] = [],
        status: HTTPResponse.Status? = nil
    ) -> Reply {
        let words = exchange.words
        func problem(_ field: ScopeDraft.Field) -> String? {
            let said = problems.filter { $0.field == field }.map { words($0.text) }
            return said.isEmpty ? nil : said.joined(separator: " ")
        }
        func check(_ field: ScopeDraft.Field, _ isOn: Bool) -> FormCheck {
            FormCheck(field.name, isOn: isOn, problem: problem(field))
        }
        let isStandard = scope?.token.isStandard == true
        let action = scope.map { path(.editScope, of: $0.token) } ?? console.path(.newScope)
        let page = ScopeFormPage(
            console: console.head(exchange, in: .administration),
            problems: problems.map { FormProblem(words($0.text), field: $0.field?.name) },
            scope: scope?.token.rawValue,
            name: scope == nil
                ? FormField(ScopeDraft.Field.name.name, draft.name, problem: problem(.name)) : nil,
            texts: Language.allCases.map { language in
                let field = ScopeDraft.Field.text(language)
                return ScopeFormPage.Text(
                    language, field: FormField(field.name, draft.texts[language] ?? "", problem: problem(field)))
            },
            isTranslated: scope?.isTranslated == true,
            listed: isStandard ? nil : check(.isListed, draft.isListed),
            startsTicked: check(.startsTicked, draft.startsTicked),
            reserved: check(.isReserved, draft.isReserved),
            claims: isStandard
                ? nil
                : ScopeFormPage.Claims(
                    names: FormField(ScopeDraft.Field.claims.name, draft.claims, problem: problem(.claims)),
                    places: FormChoices(
                        ScopeDraft.Field.claimPlaces.name,
                        ReleasedClaims.Place.allCases.map { place in
                            FormChoices.Choice(
                                place.rawValue, label: words(place.label),
                                isChosen: draft.claimPlaces.contains(place))
                        }, problem: problem(.claimPlaces))),
            action: action,
            ticket: console.ticket(exchange, for: action),
            revision: scope?.revision ?? "",
            listPath: console.path(.scopes),
            deletePath: isStandard ? nil : scope.map { path(.deleteScope, of: $0.token) })
        return Reply(status ?? (problems.isEmpty ? .ok : .badRequest), .page(page))
    }

    private func path(_ endpoint: Endpoint, of token: Scope.Token) -> String {
        console.path(endpoint) + "?" + FormParameters([Self.parameter: token.rawValue]).encoded
    }

    /// Returns the scope that the query names; throws `NotFoundError` if there is none.
    private func scope(_ exchange: Console.Exchange) async throws -> ScopeDefinition {
        let name = exchange.queried(Self.parameter)
        guard let scope = try await console.registry.atArrival().scopes().first(where: { $0.token.rawValue == name })
        else { throw NotFoundError() }
        return scope
    }

    private func deletableScope(_ exchange: Console.Exchange) async throws -> Scope.Token {
        let token = try await scope(exchange).token
        guard !token.isStandard else { throw NotFoundError() }
        return token
    }
}

/// The confirmations that the pages of scopes and APIs show after a form was submitted.
enum RegistryNotice: String, LocalizationKey, Notice {
    case scopeCreated = "scopes.notice.scope-created"
    case scopeSaved = "scopes.notice.scope-saved"
    case scopeDeleted = "scopes.notice.scope-deleted"
    case apiSaved = "apis.notice.api-saved"
    case apiDeleted = "apis.notice.api-deleted"
}

extension Console {
    /// Returns the changes of scopes and APIs that an administrator makes in one request.
    func administration(by exchange: Exchange) -> RegistryAdministration {
        RegistryAdministration(
            store, at: exchange.now,
            recording: { kind, client, detail in event(kind, by: exchange, client: client, detail: detail) },
            counting: { auditor.countRecorded($0) })
    }

    /// Returns a client as the page of a deletion names it.
    func use(of id: ClientIdentifier, in registry: CurrentRegistry) async throws -> DeleteRecordPage.Use {
        let client = try await StoreFault.supported { () async throws(StoreFault) in try await registry.client(id) }
        let isUnregistered = client?.isUnregistered == true
        return DeleteRecordPage.Use(
            name: DisplayName(client?.presentation.name ?? "", orElse: id.rawValue), id: id.rawValue,
            path: path(isUnregistered ? .unregisteredClient : .client, of: id))
    }

    /// Returns the path of a page about an API.
    func path(_ endpoint: Endpoint, ofAPI resource: Resource) -> String {
        path(endpoint) + "?" + FormParameters(["api": resource.rawValue]).encoded
    }
}

extension Console.Exchange {
    /// Returns the value of a parameter of the query; nil if it is absent or occurs twice.
    func queried(_ parameter: String) -> String? {
        (try? FormParameters(parsing: request.query).single(parameter)).flatMap { $0 }
    }
}

extension Localizer {
    /// Writes a number of records; `isWhole` is false if more were not counted.
    func count(_ number: Int, isWhole: Bool) -> String {
        isWhole ? String(number) : self(LocalizedText("scopes.at-least", ["number": .number(number)]))
    }
}

extension ScopeDraft {
    fileprivate init(_ form: PageForm) throws {
        self.init()
        name = try form.value(Field.name.name)
        for language in Language.allCases { texts[language] = try form.value(Field.text(language).name) }
        isListed = try form.value(Field.isListed.name) == "on"
        startsTicked = try form.value(Field.startsTicked.name) == "on"
        isReserved = try form.value(Field.isReserved.name) == "on"
        claims = try form.value(Field.claims.name)
        claimPlaces = Set(form.all(Field.claimPlaces.name).compactMap(ReleasedClaims.Place.init(rawValue:)))
    }
}

/// The names of the places of claims.
private enum ClaimPlaceLabel: String, LocalizationKey {
    case idToken = "claims.id-token"
    case accessToken = "claims.access-token"
    case userInfo = "claims.userinfo"
}

extension ReleasedClaims.Place {
    fileprivate var label: ClaimPlaceLabel {
        switch self {
        case .idToken: .idToken
        case .accessToken: .accessToken
        case .userInfo: .userInfo
        }
    }
}
