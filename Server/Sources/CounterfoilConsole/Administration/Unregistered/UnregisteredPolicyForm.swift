import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// `/admin/unregistered/policy`: the form for the policy for clients that no person registered.
struct UnregisteredPolicyForm: Sendable {
    let console: Console

    private typealias Draft = UnregisteredPolicyDraft

    func show(_ exchange: Console.Exchange) async throws -> Reply {
        let current = try await console.registry.atArrival()
        let policy = try await current.unregisteredClientPolicy()
        let registry = try await Draft.Registry(current)
        return page(exchange, Draft(policy, beside: registry), registry, revision: policy.revision)
    }

    func change(_ exchange: Console.Exchange) async throws -> Reply {
        let (form, _, delay) = try await console.formOrDelay(exchange)
        let current = try await console.registry.atArrival()
        let former = try await current.unregisteredClientPolicy()
        let registry = try await Draft.Registry(current)
        var draft = Draft(former, beside: registry)
        try draft.read(form, isKindFixed: console.settings.unregisteredClients != nil)
        func again(_ problems: [Draft.FieldProblem], _ status: HTTPResponse.Status = .badRequest) -> Reply {
            page(exchange, draft, registry, revision: former.revision, problems: problems, status: status)
        }
        guard Int(try form.value("revision")) == former.revision else {
            return again([Draft.FieldProblem(nil, Draft.FieldProblem.Reason.changedMeanwhile)], .conflict)
        }
        if let delay { return again([Draft.FieldProblem(nil, delay)]) }
        let (changed, problems) = draft.checked(beside: registry, revision: former.revision)
        guard problems.isEmpty else { return again(problems) }
        let event = console.event(.setting, by: exchange, detail: changed.difference(from: former))
        switch try await console.store.updateUnregisteredClientPolicy(changed, recording: [event]) {
        case .updated:
            console.auditor.countRecorded(event)
            return .done(UnregisteredNotice.policySaved, at: console.path(.unregisteredClients))
        case .changedMeanwhile:
            return again([Draft.FieldProblem(nil, Draft.FieldProblem.Reason.changedMeanwhile)], .conflict)
        }
    }

    private func page(
        _ exchange: Console.Exchange, _ draft: Draft, _ registry: Draft.Registry, revision: Int,
        problems: [Draft.FieldProblem] = [], status: HTTPResponse.Status = .ok
    ) -> Reply {
        let words = exchange.words
        func problem(_ field: Draft.Field) -> String? {
            let said = problems.filter { $0.field == field }.map { words($0.text) }
            return said.isEmpty ? nil : said.joined(separator: " ")
        }
        func field(_ field: Draft.Field, _ value: String) -> FormField {
            FormField(field.rawValue, value, problem: problem(field))
        }
        func lines(_ field: Draft.Field, _ values: [String]) -> FormLines {
            FormLines(field.rawValue, values, problem: problem(field))
        }
        func choices(_ name: String, _ chosen: String, _ all: [(String, LocalizedText)], problem: String? = nil)
            -> FormChoices
        {
            FormChoices(
                name, all.map { FormChoices.Choice($0.0, label: words($0.1), isChosen: $0.0 == chosen) },
                problem: problem)
        }
        func boxes(_ field: Draft.Field, _ chosen: [String]) -> FormChoices {
            FormChoices(
                field.rawValue,
                registry.scopes.map {
                    FormChoices.Choice(
                        $0.token.rawValue, label: $0.token.rawValue, detail: words($0),
                        isChosen: chosen.contains($0.token.rawValue))
                }, problem: problem(field))
        }
        let fixed = console.settings.unregisteredClients.map { words(UnregisteredClientSwitch($0).sentence) }
        let action = console.path(.unregisteredPolicy)
        let page = UnregisteredPolicyPage(
            console: console.head(exchange, in: .administration),
            problems: problems.map { FormProblem(words($0.text), field: $0.field?.rawValue) },
            listPath: console.path(.unregisteredClients),
            action: action,
            ticket: console.ticket(exchange, for: action),
            revision: revision,
            kinds: fixed == nil
                ? choices(
                    Draft.Field.kinds.rawValue, draft.kinds,
                    UnregisteredClientSwitch.allCases.map { ($0.rawValue, $0.label.text) }, problem: problem(.kinds))
                : nil,
            fixedKinds: fixed,
            allowedHosts: lines(.allowedHosts, draft.allowedHosts),
            refusedHosts: lines(.refusedHosts, draft.refusedHosts),
            approvers: choices(
                Draft.Field.approvers.rawValue, draft.approvers,
                UnregisteredClientPolicy.Approvers.allCases.map { ($0.rawValue, $0.label.text) },
                problem: problem(.approvers)),
            requiresInitialAccessToken: FormCheck(
                Draft.Field.requiresInitialAccessToken.rawValue, isOn: draft.requiresInitialAccessToken),
            scopeLimit: choices(
                Draft.scopeLimit, draft.maximumScopes == nil ? "listed" : Draft.chosen,
                [
                    ("listed", UnregisteredMessage.scopeListed.text),
                    (Draft.chosen, UnregisteredMessage.scopeChosen.text),
                ]),
            maximumScope: boxes(.maximumScope, draft.maximumScopes ?? []),
            defaultScope: boxes(.defaultScope, draft.defaultScopes),
            resourceLimit: choices(
                Draft.resourceLimit, draft.resources == nil ? "every" : Draft.chosen,
                [("every", UnregisteredMessage.apiEvery.text), (Draft.chosen, UnregisteredMessage.apiChosen.text)]),
            resources: registry.apis.isEmpty
                ? nil
                : FormChoices(
                    Draft.Field.resources.rawValue,
                    registry.apis.map { api in
                        FormChoices.Choice(
                            api.resource.rawValue, label: api.resource.rawValue, detail: "\(DisplayName(api.name))",
                            isChosen: draft.resources?.contains(api.resource.rawValue) ?? false)
                    }, problem: problem(.resources)),
            refreshTokens: choices(
                Draft.Field.refreshTokens.rawValue, draft.refreshTokens,
                RefreshTokenPolicy.allCases.map { ($0.rawValue, $0.label) }, problem: problem(.refreshTokens)),
            accessTokenLifetime: field(.accessTokenLifetime, draft.accessTokenLifetime),
            refreshIdleLifetime: field(.refreshIdleLifetime, draft.refreshIdleLifetime),
            refreshLifetime: field(.refreshLifetime, draft.refreshLifetime))
        return Reply(status, .page(page))
    }
}

extension UnregisteredPolicyDraft {
    /// The field that says whether ``maximumScopes`` is a limit.
    fileprivate static let scopeLimit = "scope_limit"
    /// The field that says whether ``resources`` is a limit.
    fileprivate static let resourceLimit = "resource_limit"
    /// The value of both fields if the selected boxes are the limit.
    fileprivate static let chosen = "chosen"

    /// Reads every field from the form, except the accepted kinds if the command line determines them.
    fileprivate mutating func read(_ form: PageForm, isKindFixed: Bool) throws {
        func lines(_ field: Field) throws -> [String] {
            try form.value(field.rawValue).split(whereSeparator: \.isNewline).map(String.init)
        }
        if !isKindFixed { kinds = try form.value(Field.kinds.rawValue) }
        allowedHosts = try lines(.allowedHosts)
        refusedHosts = try lines(.refusedHosts)
        approvers = try form.value(Field.approvers.rawValue)
        requiresInitialAccessToken = try form.value(Field.requiresInitialAccessToken.rawValue) == "on"
        defaultScopes = form.all(Field.defaultScope.rawValue)
        maximumScopes = try form.value(Self.scopeLimit) == Self.chosen ? form.all(Field.maximumScope.rawValue) : nil
        resources = try form.value(Self.resourceLimit) == Self.chosen ? form.all(Field.resources.rawValue) : nil
        refreshTokens = try form.value(Field.refreshTokens.rawValue)
        accessTokenLifetime = try form.value(Field.accessTokenLifetime.rawValue)
        refreshIdleLifetime = try form.value(Field.refreshIdleLifetime.rawValue)
        refreshLifetime = try form.value(Field.refreshLifetime.rawValue)
    }
}
