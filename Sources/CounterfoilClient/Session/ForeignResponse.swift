import CounterfoilProtocol

extension SignInError {
    /// The error codes with which a server of the standards refuses a request until something is changed
    /// (RFC 6749 §4.1.2.1 and §5.2, RFC 6750 §3.1, RFC 8707 §2, RFC 9449 §5).
    private static let refusals: Set = [
        "access_denied", "insufficient_scope", "invalid_client", "invalid_dpop_proof", "invalid_grant",
        "invalid_request", "invalid_scope", "invalid_target", "invalid_token", "unauthorized_client",
        "unsupported_grant_type",
    ]

    /// Whether the answer is none that a server of the standards sends, so that something between this program and the
    /// server has probably sent it.
    ///
    /// A captive portal sends a redirect or a page, or has a certificate of its own.
    package var isFromElsewhere: Bool {
        switch self {
        case .refused(let refusal): !Self.refusals.contains(refusal.code.rawValue)
        case .unsafe(.redirected), .unsafe(.transport(.untrusted)), .unsafe(.userInfo(.unreadable)),
            .unsafe(.metadata(.unreadable)), .unsafe(.keys), .unsafe(.tokenResponse(.unreadable)),
            .unsafe(.tokenResponse(.unreadableRefusal)):
            true
        default: false
        }
    }
}
