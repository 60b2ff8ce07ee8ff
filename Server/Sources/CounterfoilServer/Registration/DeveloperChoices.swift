import CounterfoilProtocol
package import CounterfoilStore
package import CounterfoilTokens

/// The settings of the policy that the developer of a client can change; nil keeps the setting of the client.
///
/// They decide how the client and the server talk to each other. None of them extends what the client may do.
package struct DeveloperChoices: Sendable, Hashable {
    /// The PKCE policy, which is never an exception (`PKCEPolicy.isException`).
    package let pkce: PKCEPolicy?
    /// The algorithm that signs ID tokens, `id_token_signed_response_alg`.
    package let idTokenAlgorithm: SigningAlgorithm?
    /// Whether ID tokens contain the claims of the scopes `profile` and `email`.
    package let putsUserClaimsInIDToken: Bool?

    /// Checks the choices in a draft, and adds a problem for each invalid one.
    init(_ draft: ClientDraft, type: ClientType, _ problems: inout [ClientProblem]) {
        pkce = PKCEPolicy(draft.pkce)
        if !draft.pkce.isEmpty, pkce.map({ !PKCEPolicy.safe(for: type).contains($0) }) ?? true {
            problems.append(ClientProblem(.pkce, PKCEPolicy.unsafe(for: type)))
        }
        idTokenAlgorithm = Self.algorithm(draft.idTokenAlgorithm)
        if !draft.idTokenAlgorithm.isEmpty, idTokenAlgorithm == nil {
            problems.append(ClientProblem(.idTokenAlgorithm, .notAnAlgorithm))
        }
        putsUserClaimsInIDToken = Bool(draft.userClaimsInIDToken)
        if !draft.userClaimsInIDToken.isEmpty, putsUserClaimsInIDToken == nil {
            problems.append(ClientProblem(.userClaimsInIDToken, .notAYesOrNo))
        }
    }

    /// Returns an algorithm with which this server signs ID tokens; nil for any other text.
    static func algorithm(_ text: String) -> SigningAlgorithm? {
        SigningAlgorithm(rawValue: text).flatMap { KeyRing.algorithms.contains($0) ? $0 : nil }
    }
}

extension ClientPolicy {
    /// Returns the policy with the choices of a developer.
    package func adopting(_ choices: DeveloperChoices) -> ClientPolicy {
        var policy = self
        if let pkce = choices.pkce { policy.pkce = pkce }
        if let algorithm = choices.idTokenAlgorithm { policy.idTokenAlgorithm = algorithm }
        if let putsUserClaims = choices.putsUserClaimsInIDToken { policy.putsUserClaimsInIDToken = putsUserClaims }
        return policy
    }
}

extension PKCEPolicy {
    /// Returns the problem with a policy that is not safe for a client type.
    fileprivate static func unsafe(for type: ClientType) -> ClientProblem.Reason {
        safe(for: type).contains(.s256OrNonce) ? .unsafePKCEPolicy : .onlyS256
    }
}
