import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens

/// The refusals of requests to an API, with its challenges.
extension ResourceServer {
    func refusal(
        for refusal: TokenRefusal, requiring scope: Scope, _ scheme: Challenges.Scheme
    ) -> AccessRefusal {
        switch refusal {
        case .invalidClaim("scope") where !scope.isEmpty:
            // A token with a valid signature but a malformed `scope` claim grants no scope.
            return insufficientScope(scope, for: scheme)
        case .unknownKey:
            // The key identifier (`kid`) is logged but is not in the response, because the sender of a forged token
            // can choose any text as its `kid`.
            let words = "the token is not signed by a key of the issuer"
            return .refused(
                OAuthError(.invalidToken, words, reason: "\(refusal)"), challenges(scope), for: scheme)
        default:
            return .refused(OAuthError(.invalidToken, "\(refusal)"), challenges(scope), for: scheme)
        }
    }

    /// RFC 9449 §7.1 and §9: an API rejects a proof with status 401, a token endpoint with status 400.
    func refusal(for refusal: DPoPProofRefusal, requiring scope: Scope) -> AccessRefusal {
        .refused(
            OAuthError(refusal.asksForNonce ? .useDPoPNonce : .invalidDPoPProof, "\(refusal)"), challenges(scope),
            for: .dpop)
    }

    func bearerTokensRefused(requiring scope: Scope) -> AccessRefusal {
        .refused(
            OAuthError(
                .invalidToken,
                "this API accepts only tokens that are bound to a key: request one with a DPoP proof, and send it with "
                    + "the scheme DPoP"),
            challenges(scope))
    }

    func boundTokensRefused(requiring scope: Scope) -> AccessRefusal {
        .refused(
            OAuthError(
                .invalidToken,
                "this API accepts no tokens that are bound to a key; send a token with the scheme Bearer",
                reason: "the audience of this API is no http or https URL; set publicURL of ProofPolicy"),
            challenges(scope))
    }

    func insufficientScope(_ scope: Scope, for scheme: Challenges.Scheme) -> AccessRefusal {
        .refused(
            OAuthError(.insufficientScope, "the access token does not grant the required scope"), challenges(scope),
            for: scheme)
    }

    /// Creates the challenges of this API for a required scope.
    ///
    /// If no scope is required, the challenges state that of the metadata, with which a client can start. Some clients
    /// request every scope of the authorization server if they find none here.
    func challenges(_ scope: Scope) -> Challenges {
        Challenges(
            realm: realm, resourceMetadata: resourceMetadata,
            scope: scope.isEmpty ? metadata?.scopesSupported ?? scope : scope, acceptsProofs: proofs != nil,
            requiresBoundTokens: proofPolicy.requiresBoundTokens)
    }
}
