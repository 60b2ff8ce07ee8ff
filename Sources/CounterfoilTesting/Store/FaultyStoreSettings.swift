public import CounterfoilProtocol
public import CounterfoilServer
public import CounterfoilTokens
public import Foundation

extension FaultyStore: BrandingStore {
    /// The branding.
    public func branding() async throws(StoreFault) -> Branding {
        try await enter(.branding)
        return try await store.branding()
    }

    /// Changes the branding.
    public func updateBranding(
        _ branding: Branding,
        logo: LogoChange
    ) async throws(StoreFault) -> UpdateBrandingOutcome {
        try await enter(.updateBranding)
        return try await store.updateBranding(branding, logo: logo)
    }
}

extension FaultyStore: ScopeStore {
    /// Every scope by name.
    public func scopes() async throws(StoreFault) -> [ScopeDefinition] {
        try await enter(.scopes)
        return try await store.scopes()
    }

    /// Adds a scope.
    public func addScope(_ scope: ScopeDefinition) async throws(StoreFault) -> AddScopeOutcome {
        try await enter(.addScope)
        return try await store.addScope(scope)
    }

    /// Changes a scope that is still what it was when it was read.
    public func updateScope(
        _ scope: ScopeDefinition, from former: ScopeDefinition
    ) async throws(StoreFault) -> UpdateScopeOutcome {
        try await enter(.updateScope)
        return try await store.updateScope(scope, from: former)
    }

    /// Removes a scope together with everything that names it.
    public func removeScope(
        _ token: Scope.Token, takingFromUses takesFromUses: Bool, at time: Date
    ) async throws(StoreFault) -> RemoveScopeOutcome {
        try await enter(.removeScope)
        return try await store.removeScope(token, takingFromUses: takesFromUses, at: time)
    }
}

extension FaultyStore: SigningKeyStore {
    /// Every key, oldest first.
    public func signingKeys() async throws(StoreFault) -> [SealedSigningKey] {
        try await enter(.signingKeys)
        return try await store.signingKeys()
    }

    /// Keeps the first key of an algorithm.
    public func addFirstSigningKey(_ key: SealedSigningKey) async throws(StoreFault) -> AddSigningKeyOutcome {
        try await enter(.addFirstSigningKey)
        return try await store.addFirstSigningKey(key)
    }

    /// Keeps the successor of a key.
    public func addSigningKey(
        _ key: SealedSigningKey, replacing former: KeyIdentifier
    ) async throws(StoreFault) -> AddSigningKeyOutcome {
        try await enter(.addSigningKey)
        return try await store.addSigningKey(key, replacing: former)
    }

    /// Removes a key that has a successor, whatever it has signed; false when there is none, or it has no successor.
    public func removeSigningKey(_ id: KeyIdentifier) async throws(StoreFault) -> Bool {
        try await enter(.removeSigningKey)
        return try await store.removeSigningKey(id)
    }

    /// Removes keys that were replaced before a moment.
    @discardableResult
    public func removeSigningKeys(replacedBefore time: Date) async throws(StoreFault) -> Int {
        try await enter(.removeSigningKeys)
        return try await store.removeSigningKeys(replacedBefore: time)
    }
}
