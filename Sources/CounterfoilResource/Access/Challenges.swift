import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens

/// The challenges of a response: those of the schemes that apply to the request.
///
/// `Bearer` is first, and `DPoP` follows it if the API accepts tokens that are bound to a key. Some clients read only
/// the first challenge, and ignore the metadata of the API if its scheme is not Bearer.
///
/// `DPoP` is alone if the request used this scheme, as in the examples of RFC 9449 §7.1 and §9. Some clients recognize
/// the demand for a nonce only then. It is also alone if the API accepts no other tokens (RFC 9110 §11.6.1).
struct Challenges: Sendable, Hashable {
    /// The scheme with which the request sent its token.
    enum Scheme: Sendable, Hashable {
        case bearer
        case dpop
    }

    /// The challenge `Bearer`; nil if `DPoP` is alone.
    private(set) var bearer: BearerChallenge?
    private(set) var dpop: DPoPChallenge?

    init(
        realm: String?, resourceMetadata: String?, scope: Scope, acceptsProofs: Bool, requiresBoundTokens: Bool
    ) {
        bearer = BearerChallenge(
            realm: realm, resourceMetadata: resourceMetadata, scope: scope.isEmpty ? nil : scope)
        // RFC 9449 §7.1: `algs` lists the accepted algorithms of proofs.
        dpop = acceptsProofs ? DPoPChallenge(algorithms: DPoPProofVerifier.algorithms.map(\.rawValue)) : nil
        if requiresBoundTokens { keepOnly(.dpop) }
    }

    /// Returns the challenges for a request that sent its token with a scheme, with an error in the first of them.
    func stating(_ error: OAuthError, for scheme: Scheme) -> Challenges {
        var changed = self
        changed.keepOnly(scheme)
        if changed.bearer != nil { changed.bearer?.error = error } else { changed.dpop?.error = error }
        return changed
    }

    /// Returns the challenges for a request that sent its token with a scheme, with a requirement for the sign-in in
    /// the first of them.
    func stating(_ requirement: AuthenticationRequirement, for scheme: Scheme) -> Challenges {
        var changed = self
        changed.keepOnly(scheme)
        if changed.bearer != nil {
            changed.bearer?.authenticationContexts = requirement.contexts
            changed.bearer?.maxAge = requirement.maxAge
        } else {
            changed.dpop?.authenticationContexts = requirement.contexts
            changed.dpop?.maxAge = requirement.maxAge
        }
        return changed
    }

    /// Removes the challenge `Bearer` if the scheme is `DPoP`; the remaining challenge takes over its parameters.
    ///
    /// Nothing changes if the API accepts no bound tokens, and nothing for a request with the scheme `Bearer`: a token
    /// that is bound to a key was perhaps sent with the wrong scheme.
    private mutating func keepOnly(_ scheme: Scheme) {
        guard scheme == .dpop, dpop != nil, let replaced = bearer else { return }
        dpop?.realm = replaced.realm
        dpop?.resourceMetadata = replaced.resourceMetadata
        dpop?.scope = replaced.scope
        bearer = nil
    }
}
