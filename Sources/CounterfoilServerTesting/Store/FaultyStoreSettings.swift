// The store protocols document these methods.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CounterfoilProtocol
public import CounterfoilServer
public import CounterfoilTokens
public import Foundation

extension FaultyStore: BrandingStore {
    public func updateBranding(
        _ branding: Branding,
        logo: LogoChange,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdateBrandingOutcome {
        try await enter(.updateBranding)
        return try await store.updateBranding(branding, logo: logo, recording: events)
    }
}

extension FaultyStore: ScopeStore {
    public func addScope(
        _ scope: ScopeDefinition, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddScopeOutcome {
        try await enter(.addScope)
        return try await store.addScope(scope, recording: events)
    }

    public func updateScope(
        _ scope: ScopeDefinition, from former: ScopeDefinition, recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdateScopeOutcome {
        try await enter(.updateScope)
        return try await store.updateScope(scope, from: former, recording: events)
    }

    public func removeScope(
        _ token: Scope.Token, takingFromUses takesFromUses: Bool, at time: Date,
        recording events: @escaping @Sendable (ScopeUses) -> [AuditEvent]
    ) async throws(StoreFault) -> RemoveScopeOutcome {
        try await enter(.removeScope)
        return try await store.removeScope(token, takingFromUses: takesFromUses, at: time, recording: events)
    }
}

extension FaultyStore: SigningKeyStore {
    public func signingKeys() async throws(StoreFault) -> [SealedSigningKey] {
        try await enter(.signingKeys)
        return try await store.signingKeys()
    }

    public func addFirstSigningKey(
        _ key: SealedSigningKey, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddSigningKeyOutcome {
        try await enter(.addFirstSigningKey)
        return try await store.addFirstSigningKey(key, recording: events)
    }

    public func addSigningKey(
        _ key: SealedSigningKey, replacing former: KeyIdentifier, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddSigningKeyOutcome {
        try await enter(.addSigningKey)
        return try await store.addSigningKey(key, replacing: former, recording: events)
    }

    public func removeSigningKey(_ id: KeyIdentifier, recording events: [AuditEvent]) async throws(StoreFault) -> Bool {
        try await enter(.removeSigningKey)
        return try await store.removeSigningKey(id, recording: events)
    }

    @discardableResult
    public func removeSigningKeys(
        replacedBefore time: Date, recording events: @escaping @Sendable (Int) -> [AuditEvent]
    ) async throws(StoreFault) -> Int {
        try await enter(.removeSigningKeys)
        return try await store.removeSigningKeys(replacedBefore: time, recording: events)
    }
}
