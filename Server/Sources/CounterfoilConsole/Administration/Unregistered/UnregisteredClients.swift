@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes
import Logging

/// `/admin/unregistered` and the pages below it: the clients that no person registered, by host, and their end.
struct UnregisteredClients: Sendable {
    let console: Console

    /// The number of hosts or clients on a page.
    private static let limit = 50
    /// The number of clients that one transaction deletes, so that other writes run between two of them.
    private static let batch = 50

    /// The values of the form field `decision`.
    private enum Decision: String {
        case end
        case adopt
    }

    /// The query parameters of a list.
    private struct Question {
        var host: String?
        /// The text that an administrator typed.
        let search: String
        let after: String?
        let before: UnregisteredClientCursor?

        /// Reads the query; throws `NotFoundError` for a value that names no list and no part of one.
        init(_ exchange: Console.Exchange) throws(NotFoundError) {
            do {
                let query = try FormParameters(parsing: exchange.request.query)
                func name(_ parameter: String) throws -> String? {
                    guard let name = try query.single(parameter) else { return nil }
                    guard name.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw NotFoundError() }
                    return name.lowercased()
                }
                (host, after) = (try name("host"), try name("after"))
                search = try query.single("search")?.trimmingWhitespace() ?? ""
                before = try query.single("before").map { text in
                    guard let cursor = UnregisteredClientCursor(parameter: text) else { throw NotFoundError() }
                    return cursor
                }
            } catch { throw NotFoundError() }
        }

        var family: UnregisteredClientFamily { host.map(UnregisteredClientFamily.host) ?? .registrations }
    }

    func list(_ exchange: Console.Exchange) async throws -> Reply {
        let settings = console.settings
        let words = exchange.words
        let question = try Question(exchange)
        let search = UnregisteredClientSearch(question.search)
        if let id = search?.id, try await console.store.unregisteredClient(id) != nil {
            return .seeOther(console.path(.unregisteredClient, of: id))
        }
        let problem = search == nil && !question.search.isEmpty ? words(UserMessage.badSearch) : nil
        let policy = try await console.registry.atArrival().effectiveUnregisteredClientPolicy(settings)
        // A text that cannot be searched for must not show every host.
        let hosts =
            problem == nil
            ? try await console.store.unregisteredClientHosts(
                startingWith: search?.prefix ?? "", after: question.after, limit: Self.limit) : []
        let registered = try await console.store.unregisteredClientCount(of: .registrations)
        let page = UnregisteredClientsPage(
            console: console.head(exchange, in: .administration),
            problems: problem.map { [FormProblem($0, field: "search")] } ?? [],
            notice: exchange.notice(UnregisteredNotice.self),
            paths: AdministrationPaths(console, exchange, at: .unregisteredClients),
            accepted: words(UnregisteredClientSwitch(policy.kinds).sentence),
            isFixed: settings.unregisteredClients != nil,
            policyPath: console.path(.unregisteredPolicy),
            tokensPath: console.path(.registrationTokens),
            search: FormField("search", question.search, problem: problem),
            action: console.path(.unregisteredClients),
            hosts: hosts.map { host in
                UnregisteredClientsPage.Row(
                    name: host.name, count: words(host.count.text), path: path(of: .host(host.name)))
            },
            more: hosts.count < Self.limit
                ? nil
                : hosts.last.map { last in
                    var query = FormParameters()
                    if !question.search.isEmpty { query.append("search", question.search) }
                    query.append("after", last.name)
                    return console.path(.unregisteredClients) + "?" + query.encoded
                },
            registrations: registered.clients == 0
                ? nil
                : UnregisteredClientsPage.Row(
                    name: words(UnregisteredMessage.registrations), count: words(registered.text),
                    path: path(of: .registrations)))
        return Reply(.ok, .page(page))
    }

    func showFamily(_ exchange: Console.Exchange) async throws -> Reply {
        try await family(try Question(exchange), exchange)
    }

    private func family(
        _ question: Question, _ exchange: Console.Exchange, problems: [FormProblem] = [],
        status: HTTPResponse.Status = .ok
    ) async throws -> Reply {
        let uses = try await console.store.unregisteredClients(
            of: question.family, after: question.before,
            limit: Self.limit)
        let count = try await console.store.unregisteredClientCount(of: question.family)
        let action = console.path(.unregisteredFamily)
        let page = UnregisteredFamilyPage(
            console: console.head(exchange, in: .administration),
            problems: problems,
            listPath: console.path(.unregisteredClients),
            host: question.host,
            count: exchange.words(count.text),
            rows: uses.map { row($0, exchange) },
            older: uses.count < Self.limit
                ? nil
                : uses.last.map {
                    path(of: question.family, before: UnregisteredClientCursor(of: $0.client).parameter)
                },
            action: action,
            ticket: console.ticket(exchange, for: action))
        return Reply(status, .page(page))
    }

    /// Deletes every client of a host, and refuses the host from now on if the form says so.
    func endHost(_ exchange: Console.Exchange) async throws -> Reply {
        let (form, _) = try console.form(exchange)
        guard let host = HostPattern(try form.value("host")), !host.rawValue.hasPrefix("*") else {
            throw NotFoundError()
        }
        // The host is refused first, so that none of its clients is allowed again while they are deleted.
        if try form.value("refuse") == "on" {
            let (outcome, event) = try await console.store.refuseClients(of: host) {
                console.event(.setting, by: exchange, detail: $0)
            }
            guard outcome != .tooMany else { return try await refusedHostsFull(host, exchange) }
            if outcome.isCommitted { console.auditor.countRecorded(event) }
        }
        let (removed, events) = try await console.store.removeAllUnregisteredClients(
            of: .host(host.rawValue), batch: Self.batch
        ) { [console] count in
            // The request can last longer than the time after which the position of an event is settled.
            console.event(
                .client, by: exchange, detail: "deleted \(count) unregistered apps of \(host)", at: console.clock()
            ).named(.clientDeleted)
        }
        console.auditor.countRecorded(events)
        console.logger.notice(
            "deleted the unregistered clients of a host",
            metadata: [
                "host": "\(host)", "count": "\(removed)", "user": "\(exchange.user.id)",
                "request": "\(exchange.request.id)",
            ])
        return .done(UnregisteredNotice.hostEnded, at: console.path(.unregisteredClients))
    }

    private func refusedHostsFull(_ host: HostPattern, _ exchange: Console.Exchange) async throws -> Reply {
        let problem = FormProblem(
            exchange.words(
                LocalizedText(
                    UnregisteredMessage.refusedHostsFull, ["limit": .number(UnregisteredClientPolicy.hostLimit)])))
        var question = try Question(exchange)
        question.host = host.rawValue
        return try await family(question, exchange, problems: [problem], status: .badRequest)
    }

    func show(_ exchange: Console.Exchange) async throws -> Reply {
        page(try await client(exchange), exchange)
    }

    /// Deletes or adopts a client.
    func change(_ exchange: Console.Exchange) async throws -> Reply {
        let (form, _) = try console.form(exchange)
        let use = try await client(exchange)
        switch Decision(rawValue: try form.value("decision")) {
        case .end:
            guard !use.isKept else { return suspended(use, exchange) }
            guard try await console.clients(by: exchange).deleteUnregistered(use.client.id) else {
                return suspended(try await client(exchange), exchange)
            }
            console.logger.notice(
                "deleted an unregistered client",
                metadata: [
                    "client_id": "\(use.client.id)", "user": "\(exchange.user.id)", "request": "\(exchange.request.id)",
                ])
            return .done(UnregisteredNotice.ended, at: console.path(.unregisteredClients))
        case .adopt:
            guard use.client.documentHost != nil else { throw NotFoundError() }
            guard Int(try form.value("revision")) == use.client.revision else { return changed(use, exchange) }
            let registry = try await console.registry.atArrival()
            let outcome = try await console.clients(by: exchange).adopt(
                use.client, under: try await registry.effectiveUnregisteredClientPolicy(console.settings),
                of: try await registry.scopes())
            switch outcome {
            case .updated:
                return .done(ClientNotice.adopted, at: console.path(.client, of: use.client.id))
            case .changedMeanwhile, .unknownScopes: return changed(try await client(exchange), exchange)
            case .notFound: throw NotFoundError()
            }
        case nil: throw PageProblem.noDecision
        }
    }

    private func client(_ exchange: Console.Exchange) async throws -> UnregisteredClientUse {
        guard let id = exchange.request.parameters.clientID,
            let use = try await console.store.unregisteredClient(id)
        else { throw NotFoundError() }
        return use
    }

    private func suspended(_ use: UnregisteredClientUse, _ exchange: Console.Exchange) -> Reply {
        page(
            use, exchange, problems: [FormProblem(exchange.words(UnregisteredMessage.clientSuspended))],
            status: .conflict)
    }

    private func changed(_ use: UnregisteredClientUse, _ exchange: Console.Exchange) -> Reply {
        page(
            use, exchange, problems: [FormProblem(exchange.words(UnregisteredMessage.clientChanged))], status: .conflict
        )
    }

    private func page(
        _ use: UnregisteredClientUse, _ exchange: Console.Exchange, problems: [FormProblem] = [],
        status: HTTPResponse.Status = .ok
    ) -> Reply {
        let client = use.client
        let action = console.path(.unregisteredClient, of: client.id)
        let page = UnregisteredClientPage(
            console: console.head(exchange, in: .administration),
            problems: problems,
            listPath: path(of: client.documentHost.map(UnregisteredClientFamily.host) ?? .registrations),
            listName: client.documentHost ?? exchange.words(UnregisteredMessage.registrations),
            row: row(use, exchange),
            name: client.displayName,
            redirectURIs: client.redirectURIs.map(\.rawValue),
            decisionPath: console.path(.clientDecision, of: client.id),
            canBeAdopted: client.documentHost != nil,
            publishesKeys: client.keysURI != nil,
            revision: client.revision,
            action: action,
            ticket: console.ticket(exchange, for: action))
        return Reply(status, .page(page))
    }

    private func row(_ use: UnregisteredClientUse, _ exchange: Console.Exchange) -> UnregisteredFamilyPage.Row {
        UnregisteredFamilyPage.Row(
            // The page shows the host above the list.
            name: use.client.nameBesideHost,
            isSuspended: use.client.suspension != nil,
            isPending: use.client.isPending,
            clientID: use.client.id.rawValue,
            firstSeen: exchange.words.date(use.client.createdAt),
            lastUsed: use.lastUsedAt.map { exchange.words.ago($0, now: exchange.now) },
            users: exchange.words(use.usersText),
            scopes: use.scope.isEmpty ? nil : use.scope.description,
            path: console.path(.unregisteredClient, of: use.client.id))
    }

    private func path(of family: UnregisteredClientFamily, before cursor: String? = nil) -> String {
        var query = FormParameters()
        if case .host(let name) = family { query.append("host", name) }
        if let cursor { query.append("before", cursor) }
        let path = console.path(.unregisteredFamily)
        return query.pairs.isEmpty ? path : path + "?" + query.encoded
    }
}
