import CounterfoilProtocol
import CounterfoilTokens

/// The challenges of a response: `Bearer` first, and `DPoP` after it if the API accepts tokens that are bound to a key.
///
/// Some clients read only the first challenge, and ignore the metadata of the API if its scheme is not Bearer.
struct Challenges: Sendable, Hashable {
    /// The scheme with which the request sent its token.
    enum Scheme: Sendable, Hashable {
        case bearer
        case dpop
    }

    private(set) var bearer: BearerChallenge
    private(set) var dpop: DPoPChallenge?

    init(realm: String?, resourceMetadata: String?, scope: Scope, acceptsProofs: Bool) {
        bearer = BearerChallenge(
            realm: realm, resourceMetadata: resourceMetadata, scope: scope.isEmpty ? nil : scope)
        // RFC 9449 §7.1: `algs` lists the accepted algorithms of proofs.
        dpop = acceptsProofs ? DPoPChallenge(algorithms: DPoPProofVerifier.algorithms.map(\.rawValue)) : nil
    }

    /// Returns the challenges with an error in the one of the scheme of the request.
    func stating(_ error: OAuthError, for scheme: Scheme) -> Challenges {
        changing(scheme) {
            $0.error = error
        } dpop: {
            $0.error = error
            $0.scope = bearer.scope
        }
    }

    /// Returns the challenges with a requirement for the sign-in in the one of the scheme of the request.
    func stating(_ requirement: AuthenticationRequirement, for scheme: Scheme) -> Challenges {
        changing(scheme) {
            $0.authenticationContexts = requirement.contexts
            $0.maxAge = requirement.maxAge
        } dpop: {
            $0.authenticationContexts = requirement.contexts
            $0.maxAge = requirement.maxAge
        }
    }

    private func changing(
        _ scheme: Scheme, bearer changeBearer: (inout BearerChallenge) -> Void,
        dpop changeDPoP: (inout DPoPChallenge) -> Void
    ) -> Challenges {
        var changed = self
        if scheme == .dpop, var dpop {
            changeDPoP(&dpop)
            changed.dpop = dpop
        } else {
            changeBearer(&changed.bearer)
        }
        return changed
    }
}
