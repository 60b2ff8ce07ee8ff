// The store protocols document these methods.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CounterfoilProtocol
public import CounterfoilServer
public import Foundation

extension MemoryStore: UnregisteredClientStore {
    public func unregisteredClientPolicy() async throws(StoreFault) -> UnregisteredClientPolicy {
        state.withLock { $0.unregisteredClientPolicy }
    }

    public func updateUnregisteredClientPolicy(
        _ policy: UnregisteredClientPolicy, recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdateUnregisteredClientPolicyOutcome {
        commit(recording: events) { state in
            guard state.unregisteredClientPolicy.revision == policy.revision else { return .changedMeanwhile }
            state.unregisteredClientPolicy = policy
            state.unregisteredClientPolicy.revision += 1
            return .updated
        }
    }

    public func refuseHost(
        _ host: HostPattern, recording events: [AuditEvent]
    ) async throws(StoreFault) -> RefuseHostOutcome {
        commit(recording: events) { state in
            let refused = state.unregisteredClientPolicy.refusedHosts
            guard !refused.contains(where: { $0.matches(host.rawValue) }) else { return .alreadyRefused }
            guard refused.count < UnregisteredClientPolicy.hostLimit else { return .tooMany }
            state.unregisteredClientPolicy.refusedHosts.append(host)
            state.unregisteredClientPolicy.revision += 1
            return .refused
        }
    }

    public func addSelfRegisteredClient(
        _ client: RegisteredClient, secret: ClientSecretRecord?, unusedLimit: Int,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddClientOutcome {
        commit(recording: events) { state in
            guard !state.clients.contains(where: { $0.id == client.id }) else { return .identifierTaken }
            guard !state.isBeingRemoved(client.id) else { return .identifierBeingFreed }
            let unknown = state.unknownScopes(of: client)
            guard unknown.isEmpty else { return .unknownScopes(unknown) }
            let unused = state.clients.count { client in
                client.source.kind == .registration && !state.consents.keys.contains { $0.client == client.id }
            }
            guard unused < unusedLimit else { return .tooMany }
            state.clients.append(client)
            if let secret { state.clientSecrets.append(secret) }
            return .added
        }
    }

    public func userCount(of id: ClientIdentifier, atMost limit: Int) async throws(StoreFault) -> Int {
        state.withLock { state in min(limit, state.consents.keys.count { $0.client == id }) }
    }

    public func addInitialAccessToken(
        _ token: InitialAccessToken, recording events: [AuditEvent]
    ) async throws(StoreFault) {
        state.withLock { state in
            state.append(events)
            state.initialAccessTokens.append(token)
        }
    }

    public func initialAccessTokens() async throws(StoreFault) -> [InitialAccessToken] {
        state.withLock { $0.initialAccessTokens.sorted { $0.createdAt < $1.createdAt } }
    }

    public func initialAccessToken(
        _ digest: ArtefactDigest, at time: Date
    ) async throws(StoreFault) -> InitialAccessToken? {
        state.withLock { $0.initialAccessTokens.first { $0.digest == digest && $0.expiresAt > time } }
    }

    @discardableResult
    public func removeInitialAccessToken(
        _ digest: ArtefactDigest, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool {
        commit(recording: events) { state in
            guard let index = state.initialAccessTokens.firstIndex(where: { $0.digest == digest }) else {
                return false
            }
            state.initialAccessTokens.remove(at: index)
            return true
        }
    }
}

extension MemoryStore.State {
    /// Deletes clients that identified or registered themselves and are no longer used, and returns their number.
    mutating func removeUnusedClients(_ limits: ExpirationLimits, atMost rows: Int) -> Int {
        let over = clients.filter { client in
            guard client.isUnregistered else { return false }
            let consents = consents.filter { $0.key.client == client.id }.values
            if consents.isEmpty, !grants.values.contains(where: { $0.clientID == client.id }),
                client.changedAt < limits.unusedClientsBefore
            {
                return true
            }
            return client.isUnregistered && client.changedAt < limits.idleClientsBefore
                && consents.allSatisfy { max($0.allowedAt, $0.lastUsedAt ?? $0.allowedAt) < limits.idleClientsBefore }
        }.prefix(rows)
        removeClients(over.map(\.id))
        return over.count
    }
}
