import CounterfoilProtocol

/// An authorization request that its application may make.
///
/// Only ``AuthorizationValidation`` makes one: the application exists, the redirect URI is one of its own, and everything
/// that the request asks is within what it was registered for.
struct ValidatedAuthorization: Sendable {
    /// The application.
    let client: RegisteredClient
    /// The request.
    let request: AuthorizationRequest
    /// Where the answer goes.
    let redirectURI: RedirectURI
    /// What is asked for, defaults applied.
    let scope: Scope

    fileprivate init(client: RegisteredClient, request: AuthorizationRequest, redirectURI: RedirectURI, scope: Scope) {
        self.client = client
        self.request = request
        self.redirectURI = redirectURI
        self.scope = scope
    }
}

/// Where the answer to a request may be sent: an application of ours at an address of its own.
struct VerifiedAddressee: Sendable {
    let client: RegisteredClient
    let redirectURI: RedirectURI
    fileprivate let addressee: AuthorizationRequest.Addressee
}

/// Why a request gets a page instead of an answer to its application (RFC 6749 §4.1.2.1).
enum UnansweredRequest: Error, CustomStringConvertible {
    case addressee(AuthorizationRequest.Addressee.Refusal)
    case unknownClient
    case redirectURI(RedirectURIMatching.Refusal)

    var description: String {
        switch self {
        case .addressee(let refusal): "\(refusal)."
        case .unknownClient: "There is no application with the client_id of the request; perhaps it was deleted."
        case .redirectURI(let refusal): "\(refusal)."
        }
    }
}

/// The rules for what an application may ask of the authorization endpoint, in two steps: first whether there is anybody to
/// answer, then what the answer must be.
enum AuthorizationValidation {
    /// Step one; a refusal is shown on a page and never redirected.
    static func addressee(
        of addressee: AuthorizationRequest.Addressee,
        client: RegisteredClient?,
        form: FormParameters,
        issuer: Issuer
    ) throws(UnansweredRequest) -> VerifiedAddressee {
        guard let client else { throw .unknownClient }
        do {
            let redirectURI = try RedirectURIMatching.resolve(
                requested: addressee.redirectURI,
                registered: client.redirectURIs,
                asksForOpenID: form.all("scope").contains { $0.split(separator: " ").contains("openid") },
                issuer: issuer
            )
            return VerifiedAddressee(client: client, redirectURI: redirectURI, addressee: addressee)
        } catch { throw .redirectURI(error) }
    }

    /// Step two; a refusal is sent to the verified redirect URI.
    static func validate(
        _ form: FormParameters,
        for verified: VerifiedAddressee
    ) throws(OAuthError) -> ValidatedAuthorization {
        let request = try AuthorizationRequest(parsing: form, addressee: verified.addressee)
        let client = verified.client

        // RFC 7636 §4.4.1, RFC 8252 §8.1: the same for every kind of redirect URI.
        guard request.codeChallenge != nil else {
            throw OAuthError(.invalidRequest, "code challenge required")
        }
        if client.policy.requiresState && request.state == nil {
            throw OAuthError(.invalidRequest, "the parameter state is missing; this application must send it")
        }
        return ValidatedAuthorization(
            client: client,
            request: request,
            redirectURI: verified.redirectURI,
            scope: try scope(request.scope, assignedTo: client)
        )
    }

    /// RFC 6749 §3.3: a request without a scope asks for every scope of the application that is not of OpenID Connect.
    private static func scope(_ asked: Scope?, assignedTo client: RegisteredClient) throws(OAuthError) -> Scope {
        guard let asked else {
            let standard = Set(ScopeDefinition.standard.map(\.token))
            return Scope(client.scope.tokens.filter { !standard.contains($0) })
        }
        guard asked.isSubset(of: client.scope) else {
            let excess = asked.tokens.filter { !client.scope.contains($0) }
            throw OAuthError(
                .invalidScope,
                "this application is not registered for: \(Scope(excess))"
            )
        }
        // OpenID Connect Core §11: ignored where no refresh token can be given.
        return Scope(asked.tokens.filter { $0 != .offlineAccess })
    }
}
