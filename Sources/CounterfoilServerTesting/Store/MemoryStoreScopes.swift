// The store protocols document these methods.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CounterfoilProtocol
public import CounterfoilServer
public import Foundation

extension MemoryStore: ScopeStore {
    public func scopes() async throws(StoreFault) -> [ScopeDefinition] {
        state.withLock { state in state.scopes.values.sorted { $0.token < $1.token } }
    }

    public func addScope(
        _ scope: ScopeDefinition, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddScopeOutcome {
        commit(recording: events) { state in
            guard state.scopes[scope.token] == nil else { return .exists }
            state.scopes[scope.token] = scope
            return .added
        }
    }

    public func updateScope(
        _ scope: ScopeDefinition, from former: ScopeDefinition, recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdateScopeOutcome {
        commit(recording: events) { state in
            guard let stored = state.scopes[scope.token] else { return .notFound }
            guard stored == former else { return .changedMeanwhile }
            state.scopes[scope.token] = scope
            return .updated
        }
    }

    public func removeScope(
        _ token: Scope.Token, takingFromUses takesFromUses: Bool, at time: Date,
        recording events: @escaping @Sendable (ScopeUses) -> [AuditEvent]
    ) async throws(StoreFault) -> RemoveScopeOutcome {
        guard !token.isStandard else { return .isStandard }
        return state.withLock { state in
            guard state.scopes[token] != nil else { return .notFound }
            let uses = state.uses(of: token)
            guard takesFromUses || uses.isEmpty else { return .inUse(uses) }
            for index in state.clients.indices where uses.clients.contains(state.clients[index].id) {
                state.clients[index] = state.clients[index].without(token, at: time)
            }
            for index in state.resources.indices {
                state.resources[index].scope = state.resources[index].scope.without(token)
            }
            state.takeFromGrants(token, at: time)
            state.scopes[token] = nil
            state.append(events(uses))
            return .removed(from: uses)
        }
    }
}

extension MemoryStore.State {
    fileprivate func uses(of token: Scope.Token) -> ScopeUses {
        ScopeUses(
            clients: clients.filter { $0.scope.contains(token) || $0.optionalScope.contains(token) }
                .sorted { ($0.createdAt, $0.id.rawValue) < ($1.createdAt, $1.id.rawValue) }.map(\.id),
            resources: resources.filter { $0.scope.contains(token) }.map(\.resource)
                .sorted { $0.rawValue < $1.rawValue })
    }

    fileprivate mutating func takeFromGrants(_ token: Scope.Token, at time: Date) {
        for grant in grants.values where grant.revokedAt == nil && grant.scope.contains(token) {
            let left = grant.scope.without(token)
            killCodes { $0.grantID == grant.id }
            if left.isEmpty {
                revoke(grant, because: .scopeRemoved, at: time)
            } else {
                grants[grant.id]?.scope = left
            }
        }
        for (key, consent) in consents where consent.scope.contains(token) { followConsent(key) }
    }
}
