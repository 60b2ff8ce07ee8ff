import CounterfoilProtocol
import CounterfoilStore

extension RegisteredClient {
    /// Throws `invalid_scope` if a request names a scope that the client does not get before its approval.
    func checkReserved(_ asked: Scope) throws(OAuthError) {
        let withheld = asked.intersection(withheldScope)
        guard withheld.isEmpty else {
            throw OAuthError(
                .invalidScope,
                "these scopes are reserved for clients that an administrator of this server has approved: \(withheld)")
        }
    }
}

extension RegistryReader {
    /// Returns the part of a granted scope that a client may have now.
    ///
    /// A registered client without an approval loses the scopes that have become reserved. An unregistered client has
    /// only what its policy allows.
    func permitted(
        _ scope: Scope, to client: RegisteredClient, _ settings: ServerSettings
    ) async throws(StoreFault) -> Scope {
        guard client.isUnregistered else {
            guard !client.isApproved else { return scope }
            return scope.subtracting(Scope(try await scopes().filter(\.isReserved).map(\.token)))
        }
        let policy = try await effectiveUnregisteredClientPolicy(settings)
        return scope.intersection(policy.requestableScope(of: try await scopes()))
    }
    /// Returns the part of a granted scope whose claims a client may have now.
    ///
    /// A token keeps a scope that has become reserved, but the claims of the scope are not released any more.
    func releasable(
        _ scope: Scope, to client: ClientIdentifier, by claims: ScopeClaims, _ settings: ServerSettings
    ) async throws(StoreFault) -> Scope {
        let releasing = scope.intersection(claims.releasing)
        guard !releasing.isEmpty else { return scope }
        guard let client = try await self.client(client) else { return scope.subtracting(releasing) }
        return scope.subtracting(releasing.subtracting(try await permitted(releasing, to: client, settings)))
    }
}
