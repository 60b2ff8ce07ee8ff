import CounterfoilProtocol
import CounterfoilStore
import Foundation

/// The clients of the server by their identifiers, however they became known to it.
///
/// Every endpoint of the protocol finds its client here.
///
/// - A client that a person registered is read from the store.
/// - A client that registered itself is read from the store, too. The owner's policy applies to it.
/// - A client with a document is stored when a user first allows it something. Until then, its document is all that
///   the server knows of it.
struct ClientDirectory: Sendable {
    var settings: ServerSettings { didSet { knownRules = RegistryCache(capacity: 1) } }
    var registry: CachedRegistry
    var store: any ClientStore
    /// The files that clients publish; nil if the server was created without a fetcher.
    let files: ClientFiles?
    var auditor: Auditor
    /// The request for which clients are found; nil for a service.
    var request: RequestContext?
    /// The rules for clients that no person registered, at one revision of the registry.
    private(set) var knownRules = RegistryCache<SingletonKey, UnregisteredClientRules>(capacity: 1)
    /// The counter of first approvals, each of which adds a client.
    let firstApprovals = ApprovalThrottle(limit: firstApprovalLimit, window: firstApprovalWindow)

    /// The part of the protocol to which a request belongs.
    enum RequestPhase: Sendable {
        /// The request begins an authorization, so the current document of the client counts.
        case beginning
        /// The request continues what a user has allowed, so a document that cannot be fetched ends nothing.
        case continuing
        /// The request waits for the answer of a user to an earlier one, and the client may not be stored yet.
        case waiting
        /// The request ends what a user has allowed, which a suspended client can do, too.
        case ending
    }

    /// Returns the client of a request; nil if there is none.
    ///
    /// - Throws: ``ClientDocumentRefusal`` if the identifier is the URL of a document that cannot be used.
    func client(
        _ id: ClientIdentifier, on phase: RequestPhase, of request: IncomingRequest, now: Date
    ) async throws -> RegisteredClient? {
        switch phase {
        case .beginning:
            return try await beginning(id, at: try await registry.atArrival(), by: request, now: now)
        case .continuing, .ending: return try await existing(id)
        case .waiting:
            if let client = try await existing(id) { return client }
            return id.isURL
                ? try await beginning(id, at: try await registry.fresh(), by: request, now: now) : nil
        }
    }

    /// Returns the client of a request that continues what a user has allowed; nil if there is none.
    ///
    /// It sends no request to another host.
    func existing(_ id: ClientIdentifier) async throws -> RegisteredClient? {
        let registry = try await registry.atArrival()
        guard let client = try await registry.client(id) else { return nil }
        guard client.isUnregistered else { return try await withholdingReserved(client, at: registry) }
        return accepted(client, under: try await rules(at: registry).policy)
    }

    /// Returns the client of a request that begins an authorization; nil if there is none.
    ///
    /// - Parameter registry: The registry in which the client and the policy are looked up.
    /// - Throws: ``ClientDocumentRefusal`` if the identifier is the URL of a document that cannot be used.
    func beginning(
        _ id: ClientIdentifier, at registry: CurrentRegistry, by request: IncomingRequest, now: Date
    ) async throws -> RegisteredClient? {
        let stored = try await registry.client(id)
        if let stored, !stored.isUnregistered { return try await withholdingReserved(stored, at: registry) }
        guard stored != nil || id.isURL else { return nil }
        let rules = try await rules(at: registry)
        switch stored?.source {
        case .console?: return stored
        case .registration?:
            return accepted(stored, under: rules.policy).map { scoped($0, by: rules) }
        case .document?, nil:
            guard rules.policy.kinds.contains(.document) else {
                guard stored == nil else { throw ClientDocumentRefusal.notAccepted }
                return nil
            }
            var client = try await document(of: id, by: rules, beside: stored, on: request, now: now)
            client.defaultScope = rules.policy.defaultScope
            return client
        }
    }

    /// Returns the client that a document describes, and records it if the IP address names too many documents.
    private func document(
        of id: ClientIdentifier, by rules: UnregisteredClientRules, beside stored: RegisteredClient?,
        on request: IncomingRequest, now: Date
    ) async throws -> RegisteredClient {
        do {
            return try await document(
                of: id, by: rules, beside: stored, from: request.countedSource(settings.issuer), now: now)
        } catch ClientDocumentRefusal.tooMany(let retryAfter) {
            await auditor.refuse(
                .throttled, because: .throttledSource, request, client: id, detail: "client documents", now: now)
            throw ClientDocumentRefusal.tooMany(retryAfter: retryAfter)
        }
    }

    /// Returns a stored client with what the policy determines; nil if the policy refuses the client.
    private func accepted(_ stored: RegisteredClient?, under policy: UnregisteredClientPolicy) -> RegisteredClient? {
        guard var client = stored, let kind = client.source.kind, policy.kinds.contains(kind),
            client.hosts.allSatisfy(policy.accepts)
        else { return nil }
        client.policy.apply(policy, to: client.type)
        return client
    }

    /// Returns a registered client without the scopes that are reserved for approved clients, unless it is one.
    ///
    /// The policy for the other clients contains no reserved scope.
    private func withholdingReserved(
        _ client: RegisteredClient, at registry: CurrentRegistry
    ) async throws(StoreFault) -> RegisteredClient {
        guard !client.isApproved else { return client }
        var client = client
        client.withheldScope = Scope(try await registry.scopes().filter(\.isReserved).map(\.token))
        client.scope = client.scope.subtracting(client.withheldScope)
        return client
    }

    /// Returns a client with the scopes that the policy lets it request.
    private func scoped(_ client: RegisteredClient, by rules: UnregisteredClientRules) -> RegisteredClient {
        var client = client
        client.scope = rules.scope
        client.defaultScope = rules.policy.defaultScope
        return client
    }

    /// Returns the rules for clients that no person registered; they are the same object until the registry changes.
    func rules(at registry: CurrentRegistry) async throws(StoreFault) -> UnregisteredClientRules {
        try await registry.value(in: knownRules) { () async throws(StoreFault) in
            UnregisteredClientRules(
                settings: settings, policy: try await registry.effectiveUnregisteredClientPolicy(settings),
                definitions: try await registry.scopes())
        }
    }
}

extension RegisteredClient {
    /// The hosts that stand for an unregistered client in the policy: that of its document, or those of its https
    /// redirect URIs.
    var hosts: [String] {
        if id.isURL { return [documentAddress?.name ?? ""] }
        return redirectURIs.compactMap { uri in
            if case .https(let host) = uri.kind { host } else { nil }
        }
    }
}
