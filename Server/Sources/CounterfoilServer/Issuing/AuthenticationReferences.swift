import CounterfoilProtocol
package import CounterfoilStore

extension AuthenticationContext {
    /// The value of `acr` (OpenID Connect Core §2; RFC 9470 §3).
    package var urn: String { "urn:counterfoil:acr:\(rawValue)" }

    /// Returns the context with a value of `acr`; nil if this server has none.
    init?(urn: String) {
        guard let context = Self.allCases.first(where: { $0.urn.utf8.elementsEqual(urn.utf8) }) else { return nil }
        self = context
    }
}

extension AuthenticationMethods {
    /// The values of `amr` (RFC 8176 §2).
    ///
    /// A recovery code has no value of its own: `otp` is for the codes of RFC 4226 and RFC 6238, and no other value
    /// names a code from a list. It is a second factor (`mfa`) all the same.
    ///
    /// A passkey is the possession of a key (`pop`), a touch (`user`), and the PIN or biometrics that unlock it, so it
    /// is multi-factor authentication (`mfa`) by itself. Whether the key is in hardware is not known without an
    /// attestation, so it is neither `hwk` nor `swk`. The same is true of a security key after the password.
    ///
    /// For a sign-in at another issuer, they are those that the issuer states.
    package var references: [String] {
        if let external { return external.references }
        return (all.contains(.password) ? ["pwd"] : []) + (all.contains(.code) ? ["otp"] : [])
            + (all.contains(.passkey) ? ["pop", "user"] : all.contains(.securityKey) ? ["pop"] : [])
            + (context > .password ? ["mfa"] : [])
    }
}

/// The authentication contexts for which a request asks (OpenID Connect Core §3.1.2.1 `acr_values` and §5.5.1.1), and
/// the one that the policy of the client demands.
struct AskedContexts: Sendable, Hashable {
    /// The contexts, one of which the sign-in must have; nil if the request requires none.
    private let essential: Set<AuthenticationContext>?
    /// The contexts that the client prefers; empty if it prefers none.
    private let wished: Set<AuthenticationContext>
    /// The weakest context that the policy of the client allows.
    private let floor: AuthenticationContext

    init(of request: AuthorizationRequest, by client: RegisteredClient) {
        let values = request.claims?.requiredContexts ?? []
        essential = values.isEmpty ? nil : Set(values.compactMap(AuthenticationContext.init(urn:)))
        let voluntary = request.authenticationContexts + (request.claims?.preferredContexts ?? [])
        wished = Set(voluntary.compactMap(AuthenticationContext.init(urn:)))
        floor = client.policy.minimumAuthentication
    }

    /// Whether no sign-in at this server can have a required context.
    var isImpossible: Bool { essential?.isEmpty ?? false }

    /// The weakest context with which the client gets tokens.
    var required: AuthenticationContext { max(essential?.min() ?? .password, floor) }

    /// The weakest context with which the request is satisfied.
    var minimum: AuthenticationContext { max((essential ?? wished).min() ?? .password, floor) }

    /// Returns true if a sign-in is not weaker than the request and the policy require.
    func accept(_ methods: AuthenticationMethods) -> Bool { required <= methods.context }

    /// Returns `acr` of the tokens after a sign-in: the strongest of the asked contexts that it reaches, and its own if
    /// it reaches none or none is asked.
    ///
    /// A stronger sign-in satisfies a request for a weaker context, and the client finds the value for which it asked.
    func stated(of methods: AuthenticationMethods) -> AuthenticationContext {
        let reached = (essential ?? wished).filter { $0 <= methods.context }
        return reached.max() ?? methods.context
    }
}
