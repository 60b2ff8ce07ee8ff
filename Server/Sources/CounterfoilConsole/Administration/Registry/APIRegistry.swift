import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes

/// `/admin/apis` and the pages below it: the APIs, their credentials, and how they check tokens.
struct APIRegistry: Sendable {
    let console: Console

    private typealias Problem = APIDraft.FieldProblem

    func list(_ exchange: Console.Exchange) async throws -> Reply {
        let usage = try await console.store.scopeUsage(atMost: ScopeRegistry.countLimit)
        let page = APIsPage(
            console: console.head(exchange, in: .administration),
            paths: AdministrationPaths(console, exchange, at: .apis),
            notice: exchange.notice(RegistryNotice.self), newPath: console.path(.newAPI),
            rows: try await console.registry.atArrival().resources().map { api in
                APIsPage.Row(
                    name: DisplayName(api.name), uri: api.resource.rawValue, scope: api.scope.description,
                    tokenType: connection(of: api).tokenType, requiresBoundTokens: api.requiresBoundTokens,
                    clients: exchange.words.count(
                        usage.clients(withAnyOf: api.scope.withoutStandard), isWhole: usage.hasAllClients),
                    path: console.path(.api, ofAPI: api.resource))
            })
        return Reply(.ok, .page(page))
    }

    func show(_ exchange: Console.Exchange) async throws -> Reply { page(exchange, of: try await api(exchange)) }

    func replaceSecret(_ exchange: Console.Exchange) async throws -> Reply {
        var api = try await api(exchange)
        let (form, _) = try console.form(exchange)
        guard try form.value("decision") == "secret" else { throw PageProblem.noDecision }
        // The form was sent a second time, and the first secret was shown already.
        guard try form.value("secret_revision") == api.secretRevision else {
            return page(exchange, of: api, problem: Problem(nil, .changedMeanwhile))
        }
        let administration = console.administration(by: exchange)
        guard let secret = try await administration.replaceSecret(of: api.resource, random: console.random) else {
            throw NotFoundError()
        }
        api.secret = ArtefactDigest(of: secret)
        return page(exchange, of: api, newSecret: secret)
    }

    func showNew(_ exchange: Console.Exchange) async throws -> Reply { try await form(exchange, APIDraft(), of: nil) }

    func add(_ exchange: Console.Exchange) async throws -> Reply {
        let (form, _, delay) = try await console.formOrDelay(exchange)
        let draft = try APIDraft(form)
        if let delay { return try await self.form(exchange, draft, of: nil, problems: [Problem(nil, delay)]) }
        do {
            let (api, secret) = try await console.administration(by: exchange).add(draft, random: console.random)
            return page(exchange, of: api, newSecret: secret)
        } catch let refusal as APIRefusal {
            return try await self.form(exchange, draft, of: nil, problems: refusal.problems)
        }
    }

    func showEdit(_ exchange: Console.Exchange) async throws -> Reply {
        let api = try await api(exchange)
        return try await form(exchange, APIDraft(api), of: api)
    }

    func change(_ exchange: Console.Exchange) async throws -> Reply {
        let api = try await api(exchange)
        let (form, _, delay) = try await console.formOrDelay(exchange)
        let draft = try APIDraft(form)
        func again(_ problems: [Problem], _ status: HTTPResponse.Status = .badRequest) async throws -> Reply {
            try await self.form(exchange, draft, of: api, problems: problems, status: status)
        }
        guard try form.value("revision") == api.revision else {
            return try await again([Problem(nil, .changedMeanwhile)], .conflict)
        }
        if let delay { return try await again([Problem(nil, delay)]) }
        do {
            guard try await console.administration(by: exchange).change(api, to: draft) != nil else {
                throw NotFoundError()
            }
        } catch let refusal as APIRefusal {
            let isConflict = refusal.problems.contains { $0.field == nil }
            return try await again(refusal.problems, isConflict ? .conflict : .badRequest)
        }
        return .done(RegistryNotice.apiSaved, at: console.path(.apis))
    }

    func askToDelete(_ exchange: Console.Exchange) async throws -> Reply {
        let api = try await api(exchange)
        let limit = ScopeRegistry.usesLimit
        let (clients, isWhole) = try await console.store.clients(
            withAnyOf: api.scope.withoutStandard, atMost: limit + 1, among: ScopeRegistry.countLimit)
        let registry = try await console.registry.fresh()
        var uses: [DeleteRecordPage.Use] = []
        for id in clients.prefix(limit) { uses.append(try await console.use(of: id, in: registry)) }
        let page = DeleteRecordPage(
            console: console.head(exchange, in: .administration), api: DisplayName(api.name), uses: uses,
            hasMore: clients.count > limit || !isWhole, action: console.path(.deleteAPI, ofAPI: api.resource),
            ticket: console.ticket(exchange, for: console.path(.deleteAPI, ofAPI: api.resource)),
            cancelPath: console.path(.api, ofAPI: api.resource), listPath: console.path(.apis))
        return Reply(.ok, .page(page))
    }

    func delete(_ exchange: Console.Exchange) async throws -> Reply {
        let api = try await api(exchange)
        _ = try console.form(exchange)
        guard try await console.administration(by: exchange).delete(api.resource) else { throw NotFoundError() }
        return .done(RegistryNotice.apiDeleted, at: console.path(.apis))
    }

    private func page(
        _ exchange: Console.Exchange, of api: RegisteredResource, newSecret: ClientSecret? = nil,
        problem: Problem? = nil
    ) -> Reply {
        let words = exchange.words
        let connection = connection(of: api)
        func value(_ label: LocalizedText, _ text: String) -> ConnectPage.Value {
            ConnectPage.Value(words(label), text)
        }
        let page = APIPage(
            console: console.head(exchange, in: .administration),
            notice: exchange.notice(RegistryNotice.self), problems: problem.map { [FormProblem(words($0.text))] } ?? [],
            name: DisplayName(api.name), uri: api.resource.rawValue,
            clientID: api.clientID.rawValue, registered: words.moment(api.createdAt), newSecret: newSecret?.exposed,
            values: [
                value(LocalizedText("connect.issuer"), connection.issuer.rawValue),
                value(LocalizedText("apis.audience"), connection.audience),
                value(LocalizedText("connect.key-set"), connection.keySet),
                value(LocalizedText("apis.algorithm"), connection.algorithm),
                value(LocalizedText("apis.token-type"), connection.tokenType),
                value(LocalizedText("connect.scope"), connection.scope.description),
                value(LocalizedText("connect.oauth-metadata"), connection.metadata),
                value(LocalizedText("connect.introspection-endpoint"), connection.introspectionEndpoint),
                value(LocalizedText("connect.client-id"), connection.clientID.rawValue),
            ],
            configurations: connection.configurations.map {
                ConnectPage.Configuration(
                    product: $0.product, file: $0.file, text: $0.text.trimmingCharacters(in: .newlines))
            },
            action: console.path(.api, ofAPI: api.resource),
            ticket: console.ticket(exchange, for: console.path(.api, ofAPI: api.resource)),
            secretRevision: api.secretRevision,
            editPath: console.path(.editAPI, ofAPI: api.resource),
            deletePath: console.path(.deleteAPI, ofAPI: api.resource), listPath: console.path(.apis))
        return Reply(problem == nil ? .ok : .conflict, .page(page))
    }

    private func form(
        _ exchange: Console.Exchange, _ draft: APIDraft, of api: RegisteredResource?, problems: [Problem] = [],
        status: HTTPResponse.Status? = nil
    ) async throws -> Reply {
        let words = exchange.words
        func problem(_ field: APIDraft.Field) -> String? {
            let said = problems.filter { $0.field == field }.map { words($0.text) }
            return said.isEmpty ? nil : said.joined(separator: " ")
        }
        func field(_ field: APIDraft.Field, _ value: String) -> FormField {
            FormField(field.rawValue, value, problem: problem(field))
        }
        let action = api.map { console.path(.editAPI, ofAPI: $0.resource) } ?? console.path(.newAPI)
        let scopes = try await console.registry.fresh().scopes()
        // The standard scopes concern the user and not an API; one that an API has stays selectable.
        let offered = scopes.filter { !$0.token.isStandard || draft.scopes.contains($0.token.rawValue) }
        let page = APIFormPage(
            console: console.head(exchange, in: .administration),
            problems: problems.map { FormProblem(words($0.text), field: $0.field?.rawValue) },
            api: api?.resource.rawValue, uri: api == nil ? field(.uri, draft.uri) : nil,
            name: field(.name, draft.name),
            scopes: FormChoices(
                APIDraft.Field.scopes.rawValue,
                offered.map {
                    FormChoices.Choice(
                        $0.token.rawValue, label: $0.token.rawValue, detail: words($0),
                        isChosen: draft.scopes.contains($0.token.rawValue))
                }, problem: problem(.scopes)),
            tokenType: FormChoices(
                APIDraft.Field.tokenType.rawValue,
                [
                    FormChoices.Choice(
                        AccessTokenType.atJWT.rawValue, label: "at+jwt",
                        detail: words(LocalizedText("apis.form.at-jwt")),
                        isChosen: draft.tokenType == AccessTokenType.atJWT.rawValue),
                    FormChoices.Choice(
                        AccessTokenType.jwt.rawValue, label: "JWT", detail: words(LocalizedText("apis.form.jwt")),
                        isChosen: draft.tokenType == AccessTokenType.jwt.rawValue),
                ], problem: problem(.tokenType)),
            requiresBoundTokens: FormCheck(
                APIDraft.Field.requiresBoundTokens.rawValue, isOn: draft.requiresBoundTokens,
                problem: problem(.requiresBoundTokens)),
            action: action,
            ticket: console.ticket(exchange, for: action),
            revision: api?.revision ?? "",
            cancelPath: api.map { console.path(.api, ofAPI: $0.resource) } ?? console.path(.apis),
            newScopePath: console.path(.newScope))
        return Reply(status ?? (problems.isEmpty ? .ok : .badRequest), .page(page))
    }

    private func connection(of api: RegisteredResource) -> APIConnection {
        APIConnection(of: api, issuer: console.settings.issuer)
    }

    /// Returns the API that the query names; throws `NotFoundError` if there is none.
    private func api(_ exchange: Console.Exchange) async throws -> RegisteredResource {
        guard let text = exchange.queried("api"), let resource = try? Resource(text),
            let api = try await console.registry.atArrival().resource(resource)
        else { throw NotFoundError() }
        return api
    }
}

extension Scope {
    /// The scopes that can belong to an API.
    fileprivate var withoutStandard: Scope { Scope(tokens.filter { !$0.isStandard }) }
}

extension APIDraft {
    fileprivate init(_ form: PageForm) throws {
        self.init()
        uri = try form.value(Field.uri.rawValue)
        name = try form.value(Field.name.rawValue)
        scopes = form.all(Field.scopes.rawValue)
        tokenType = try form.value(Field.tokenType.rawValue)
        requiresBoundTokens = try form.value(Field.requiresBoundTokens.rawValue) == "on"
    }
}
