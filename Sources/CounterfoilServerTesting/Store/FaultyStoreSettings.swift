// The store protocols document these methods.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CounterfoilProtocol
public import CounterfoilServer
public import CounterfoilTokens
public import Foundation

extension FaultyStore: BrandingStore {
    public func updateBranding(
        _ branding: Branding,
        logo: LogoChange
    ) async throws(StoreFault) -> UpdateBrandingOutcome {
        try await enter(.updateBranding)
        return try await store.updateBranding(branding, logo: logo)
    }
}

extension FaultyStore: ScopeStore {
    public func addScope(_ scope: ScopeDefinition) async throws(StoreFault) -> AddScopeOutcome {
        try await enter(.addScope)
        return try await store.addScope(scope)
    }

    public func updateScope(
        _ scope: ScopeDefinition, from former: ScopeDefinition
    ) async throws(StoreFault) -> UpdateScopeOutcome {
        try await enter(.updateScope)
        return try await store.updateScope(scope, from: former)
    }

    public func removeScope(
        _ token: Scope.Token, takingFromUses takesFromUses: Bool, at time: Date
    ) async throws(StoreFault) -> RemoveScopeOutcome {
        try await enter(.removeScope)
        return try await store.removeScope(token, takingFromUses: takesFromUses, at: time)
    }
}

extension FaultyStore: SigningKeyStore {
    public func signingKeys() async throws(StoreFault) -> [SealedSigningKey] {
        try await enter(.signingKeys)
        return try await store.signingKeys()
    }

    public func addFirstSigningKey(_ key: SealedSigningKey) async throws(StoreFault) -> AddSigningKeyOutcome {
        try await enter(.addFirstSigningKey)
        return try await store.addFirstSigningKey(key)
    }

    public func addSigningKey(
        _ key: SealedSigningKey, replacing former: KeyIdentifier
    ) async throws(StoreFault) -> AddSigningKeyOutcome {
        try await enter(.addSigningKey)
        return try await store.addSigningKey(key, replacing: former)
    }

    public func removeSigningKey(_ id: KeyIdentifier) async throws(StoreFault) -> Bool {
        try await enter(.removeSigningKey)
        return try await store.removeSigningKey(id)
    }

    @discardableResult
    public func removeSigningKeys(replacedBefore time: Date) async throws(StoreFault) -> Int {
        try await enter(.removeSigningKeys)
        return try await store.removeSigningKeys(replacedBefore: time)
    }
}
