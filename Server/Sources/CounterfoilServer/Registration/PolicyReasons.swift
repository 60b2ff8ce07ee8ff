package import CounterfoilStore
package import CounterfoilTokens

/// The settings of a client that decide how libraries must be configured, each with its reason in one line.
package enum PolicyReason: String, LocalizationKey, CaseIterable {
    case s256Public = "policy.reason.s256-public"
    case s256Confidential = "policy.reason.s256-confidential"
    case s256OrNonce = "policy.reason.s256-or-nonce"
    case s256OrPlain = "policy.reason.s256-or-plain"
    case optional = "policy.reason.optional"
    case exempt = "policy.reason.exempt"
    case es256 = "policy.reason.es256"
    case rs256 = "policy.reason.rs256"
    case ed25519 = "policy.reason.ed25519"
    case edDSA = "policy.reason.eddsa"
    case userClaims = "policy.reason.user-claims"
    case noUserClaims = "policy.reason.no-user-claims"

    /// Creates the reason for a PKCE policy of clients of a type.
    package init(_ policy: PKCEPolicy, of type: ClientType) {
        self =
            switch policy {
            case .s256: type.isConfidential ? .s256Confidential : .s256Public
            case .s256OrNonce: .s256OrNonce
            case .s256OrPlain: .s256OrPlain
            case .optional: .optional
            case .exemptUntil: .exempt
            }
    }

    /// Creates the reason for an algorithm of ID tokens.
    package init(_ algorithm: SigningAlgorithm) {
        self =
            switch algorithm {
            case .rs256: .rs256
            case .ed25519: .ed25519
            case .edDSA: .edDSA
            default: .es256
            }
    }

    /// Creates the reason why ID tokens contain the claims of the scopes `profile` and `email`, or do not.
    package init(userClaimsInIDToken isOn: Bool) { self = isOn ? .userClaims : .noUserClaims }
}
