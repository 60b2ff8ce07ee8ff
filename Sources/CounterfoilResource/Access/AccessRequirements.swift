public import CounterfoilProtocol

/// The checks of a verified access, for an operation or for a nested group of routes.
extension ResourceServer {
    /// Checks that a verified access grants every scope token of the required scope (RFC 6750 §3.1).
    ///
    /// A scope token can be granted by a broader one (``ScopeHierarchy``).
    ///
    /// - Throws: An ``AccessRefusal`` with `insufficient_scope`. Its challenge states the whole scope that the request
    ///   needs: this one, and the scopes that were required of the same access before.
    public func require(_ scope: Scope, of access: VerifiedAccess) throws(AccessRefusal) {
        _ = try self.access(access, requiring: scope)
    }

    /// Checks that a verified access grants a scope, and returns it with the scope that was required of it in total.
    package func access(_ access: VerifiedAccess, requiring scope: Scope) throws(AccessRefusal) -> VerifiedAccess {
        var access = access
        access.requiredScope = access.requiredScope.union(scope)
        guard scope.isSubset(of: scopeHierarchy.expanding(access.scope)) else {
            throw insufficientScope(access.requiredScope, for: access.scheme)
        }
        return access
    }

    /// Checks that the sign-in of a verified access meets a requirement (RFC 9470 §3).
    ///
    /// - Throws: An ``AccessRefusal`` with `insufficient_user_authentication` and a challenge that states the
    ///   requirement.
    public func require(_ requirement: AuthenticationRequirement, of access: VerifiedAccess) throws(AccessRefusal) {
        guard !requirement.isMet(by: access, at: now(), clockSkew: clockSkew) else { return }
        throw .refused(
            OAuthError(
                .insufficientUserAuthentication,
                "the user must sign in again: a more recent or another authentication is required"),
            challenges(access.requiredScope).stating(requirement, for: access.scheme), for: access.scheme)
    }

    /// Returns true if a resource server with the same issuer and audience created `access`.
    ///
    /// Middleware can then use `access` instead of verifying the token of the request again. If this resource
    /// server introspects tokens, the token of `access` must have been introspected too. The same applies to a
    /// ``ProofPolicy`` that requires bound tokens or nonces.
    public func recognizes(_ access: VerifiedAccess) -> Bool {
        guard introspectionCache == nil || access.isIntrospected else { return false }
        guard !proofPolicy.requiresBoundTokens || access.keyThumbprint != nil else { return false }
        guard !proofPolicy.requiresNonce || access.keyThumbprint == nil || access.isProvenWithNonce else {
            return false
        }
        return access.issuer.rawValue.utf8.elementsEqual(issuer.rawValue.utf8)
            && access.audience.utf8.elementsEqual(audience.utf8)
    }
}
