@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
import Foundation
import HTTPTypes

extension AdministrationOperation {
    /// The operations on clients that no person registered, and on the policy for them.
    static let unregisteredClients: [AdministrationOperation] = [
        AdministrationOperation(
            "getUnregisteredPolicy", .get, "/unregistered/policy", .readClients,
            answer: .object(UnregisteredPolicyDocument.self)
        ) { call in
            try AdministrationAnswer(policy: try await call.components.registry.fresh().unregisteredClientPolicy())
        },
        AdministrationOperation(
            "changeUnregisteredPolicy", .patch, "/unregistered/policy", .writeClients,
            body: UnregisteredPolicyBody.self,
            answer: .object(UnregisteredPolicyDocument.self), isConditional: true, Unregistered.changePolicy),
        AdministrationOperation(
            "listUnregisteredHosts", .get, "/unregistered/hosts", .readClients, query: ["search", "limit", "cursor"],
            answer: .list(UnregisteredHostDocument.self), Unregistered.hosts),
        AdministrationOperation(
            "deleteUnregisteredHost", .delete, "/unregistered/hosts/{host}", .writeClients, query: ["refuse"],
            answer: .object(RemovedHostDocument.self), Unregistered.deleteHost),
        AdministrationOperation(
            "listUnregisteredClients", .get, "/unregistered/clients", .readClients,
            query: ["host", "after", "limit", "cursor"], answer: .list(UnregisteredClientDocument.self),
            Unregistered.list),
        AdministrationOperation(
            "getUnregisteredClient", .get, "/unregistered/clients/{client}", .readClients,
            answer: .object(UnregisteredClientDocument.self)
        ) { call in
            let use = try await call.unregisteredClient()
            return try AdministrationAnswer(
                UnregisteredClientDocument(use), version: try ClientRecord.version(of: use.client))
        },
        AdministrationOperation(
            "deleteUnregisteredClient", .delete, "/unregistered/clients/{client}", .writeClients, Unregistered.delete),
        AdministrationOperation(
            "adoptUnregisteredClient", .post, "/unregistered/clients/{client}/adopt", .writeClients,
            answer: .object(ClientRecord.self), isConditional: true, Unregistered.adopt),
    ]
}

/// The functions of the operations on unregistered clients.
private enum Unregistered {
    /// The number of clients that one transaction deletes, so that other writes run between two of them.
    private static let batch = 50

    static func changePolicy(
        _ call: AdministrationCall, _ body: UnregisteredPolicyBody
    ) async throws -> AdministrationAnswer {
        let current = try await call.components.registry.fresh()
        let former = try await current.unregisteredClientPolicy()
        try call.requireMatch(try UnregisteredPolicyDocument.version(of: former))
        let registry = try await UnregisteredPolicyDraft.Registry(current)
        var draft = UnregisteredPolicyDraft(former, beside: registry)
        body.write(into: &draft)
        let (changed, problems) = draft.checked(beside: registry, revision: former.revision)
        guard problems.isEmpty else {
            throw ProblemError.invalidMembers(
                problems.map { .named($0.field?.rawValue, Localizer.english($0.text)) })
        }
        let event = call.event(.setting, detail: changed.difference(from: former))
        guard try await call.store.updateUnregisteredClientPolicy(changed, recording: [event]) == .updated else {
            throw ProblemError.changedMeanwhile
        }
        call.components.auditor.countRecorded(event)
        return try AdministrationAnswer(policy: try await call.components.registry.fresh().unregisteredClientPolicy())
    }

    static func hosts(_ call: AdministrationCall) async throws -> AdministrationAnswer {
        let cursor = ListCursor(call, list: "unregistered hosts")
        let limit = try call.query.limit()
        let last = try cursor.position(in: call.query)
        let search = try call.query.value(
            "search", rule: "It must have 1 to \(UserSearch.limit) bytes and no control character."
        ) { UnregisteredClientSearch($0) }
        let hosts = try await call.store.unregisteredClientHosts(
            startingWith: search?.prefix ?? "", after: last, limit: limit)
        // A list of clients without a host has those that registered themselves, which are the first row here.
        var rows: [UnregisteredHostDocument] = []
        if last == nil, search == nil {
            let registered = try await call.store.unregisteredClientCount(of: .registrations)
            if registered.clients > 0 { rows.append(UnregisteredHostDocument(nil, registered)) }
        }
        rows += hosts.map { UnregisteredHostDocument($0.name, $0.count) }
        let next = hosts.count < limit ? nil : hosts.last
        return try AdministrationAnswer(list: rows, next: try next.map { try cursor.text(after: $0.name) })
    }

    static func deleteHost(_ call: AdministrationCall) async throws -> AdministrationAnswer {
        let refuses = try call.query.flag("refuse") ?? false
        guard let host = HostPattern(try call.segment("host")), !host.rawValue.hasPrefix("*") else {
            throw NotFoundError()
        }
        // The host is refused first, so that none of its clients is allowed again while they are deleted.
        if refuses {
            let (outcome, event) = try await call.store.refuseClients(of: host) { call.event(.setting, detail: $0) }
            guard outcome != .tooMany else {
                throw ProblemError.conflict(
                    "too-many-hosts",
                    .parameter(
                        "refuse",
                        "The policy already refuses \(UnregisteredClientPolicy.hostLimit) hosts, the maximum; nothing was "
                            + "changed. Remove some of them, or combine them as *.example.com."),
                    "The policy cannot refuse another host.")
            }
            if outcome.isCommitted { call.components.auditor.countRecorded(event) }
        }
        let (removed, events) = try await call.store.removeAllUnregisteredClients(
            of: .host(host.rawValue), batch: batch
        ) { count in
            // The request can last longer than the time after which the position of an event is settled.
            call.event(
                .client, detail: "deleted \(count) unregistered apps of \(host)", at: call.components.clock()
            ).named(.clientDeleted)
        }
        call.components.auditor.countRecorded(events)
        return try AdministrationAnswer(
            RemovedHostDocument(host: host.rawValue, deleted: removed, refused: refuses))
    }

    static func list(_ call: AdministrationCall) async throws -> AdministrationAnswer {
        let cursor = ListCursor(call, list: "unregistered clients")
        let limit = try call.query.limit()
        let host = try call.query.value("host", rule: "It must be the name of a host.") { text in
            HostPattern(text).flatMap { $0.rawValue.hasPrefix("*") ? nil : $0 }
        }
        let family = host.map { UnregisteredClientFamily.host($0.rawValue) } ?? .registrations
        var position = try cursor.position(in: call.query).flatMap { UnregisteredClientCursor(parameter: $0) }
        if position == nil { position = try await start(call) }
        let uses = try await call.store.unregisteredClients(of: family, after: position, limit: limit)
        let next = uses.count < limit ? nil : uses.last
        return try AdministrationAnswer(
            list: uses.map { UnregisteredClientDocument($0) },
            next: try next.map { try cursor.text(after: UnregisteredClientCursor(of: $0.client).parameter) })
    }

    /// Returns the position of the client in the parameter `after`; nil if it is absent.
    private static func start(_ call: AdministrationCall) async throws -> UnregisteredClientCursor? {
        guard let after = call.query.text("after") else { return nil }
        guard let id = ClientIdentifier(after), let use = try await call.store.unregisteredClient(id) else {
            throw ProblemError.refusedParameters([.parameter("after", "There is no such unregistered client.")])
        }
        return UnregisteredClientCursor(of: use.client)
    }

    static func delete(_ call: AdministrationCall) async throws -> AdministrationAnswer {
        // A client can be deleted even if this version cannot read its record.
        guard let id = ClientIdentifier(try call.segment("client")),
            let client = try await call.store.clientOwnership(id), client.isUnregistered
        else { throw NotFoundError() }
        guard try await call.clients.deleteUnregistered(id) else {
            guard try await call.store.unregisteredClient(id)?.isKept == true else { throw NotFoundError() }
            throw ProblemError.conflict(
                "client-suspended", nil,
                "The client is suspended, and its deletion would end the suspension; resume it first.")
        }
        return .none
    }

    static func adopt(_ call: AdministrationCall) async throws -> AdministrationAnswer {
        let client = try await call.unregisteredClient().client
        try call.requireMatch(try ClientRecord.version(of: client))
        guard client.documentHost != nil else {
            throw ProblemError.conflict(
                "client-without-document", nil,
                "The client registered itself and has no document. Create it as a client.")
        }
        let registry = try await call.components.registry.fresh()
        let outcome = try await call.clients.adopt(
            client, under: try await registry.effectiveUnregisteredClientPolicy(call.settings),
            of: try await registry.scopes())
        switch outcome {
        case .updated: return try await AdministrationAnswer(client: client.id, call)
        case .changedMeanwhile, .unknownScopes: throw ProblemError.changedMeanwhile
        case .notFound: throw NotFoundError()
        }
    }
}

extension AdministrationCall {
    /// Returns the unregistered client in the path; throws 404 if there is none.
    fileprivate func unregisteredClient() async throws -> UnregisteredClientUse {
        guard let id = ClientIdentifier(try segment("client")), let use = try await store.unregisteredClient(id) else {
            throw NotFoundError()
        }
        return use
    }
}

extension AdministrationAnswer {
    fileprivate init(policy: UnregisteredClientPolicy) throws {
        try self.init(
            UnregisteredPolicyDocument(policy), version: try UnregisteredPolicyDocument.version(of: policy))
    }
}

/// The body with which the policy is changed: a JSON Merge Patch (RFC 7396).
struct UnregisteredPolicyBody: AdministrationBody {
    typealias Member = UnregisteredPolicyDraft.Field

    private var texts: [Member: String] = [:]
    private var lists: [Member: [String]?] = [:]
    private let requiresInitialAccessToken: Bool?

    init?(_ members: inout BodyMembers<Member>) {
        for member in [Member.kinds, .refreshTokens, .approvers] where members.has(member) {
            texts[member] = members.text(member) ?? ""
        }
        for member in [Member.accessTokenLifetime, .refreshIdleLifetime, .refreshLifetime] where members.has(member) {
            texts[member] = members.integer(member, 0...99_999_999).map(String.init) ?? ""
        }
        for member in [Member.allowedHosts, .refusedHosts, .defaultScope, .maximumScope, .resources]
        where members.has(member) {
            lists.updateValue(members.texts(member, atMost: UnregisteredClientPolicy.hostLimit), forKey: member)
        }
        requiresInitialAccessToken = members.flag(.requiresInitialAccessToken)
    }

    func write(into draft: inout UnregisteredPolicyDraft) {
        if let kinds = texts[.kinds] { draft.kinds = kinds }
        if let when = texts[.refreshTokens] { draft.refreshTokens = when }
        if let approvers = texts[.approvers] { draft.approvers = approvers }
        if let seconds = texts[.accessTokenLifetime] { draft.accessTokenLifetime = seconds }
        if let seconds = texts[.refreshIdleLifetime] { draft.refreshIdleLifetime = seconds }
        if let seconds = texts[.refreshLifetime] { draft.refreshLifetime = seconds }
        if let hosts = lists[.allowedHosts] { draft.allowedHosts = hosts ?? [] }
        if let hosts = lists[.refusedHosts] { draft.refusedHosts = hosts ?? [] }
        if let scopes = lists[.defaultScope] { draft.defaultScopes = scopes ?? [] }
        if let scopes = lists[.maximumScope] { draft.maximumScopes = scopes }
        if let resources = lists[.resources] { draft.resources = resources }
        if let requiresInitialAccessToken { draft.requiresInitialAccessToken = requiresInitialAccessToken }
    }
}
