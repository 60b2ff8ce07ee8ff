import CounterfoilProtocol

/// An authorization request, parsed once.
///
/// Its parts may be used in the order in which they are verified: the client and the redirect URI first, then
/// the other parameters. A form is not read again after this.
struct ParsedAuthorizationRequest: Sendable {
    /// The client and the redirect URI, unverified.
    let target: AuthorizationRequest.ResponseTarget
    /// Whether `scope` contains `openid`, even if another parameter is invalid.
    let asksForOpenID: Bool
    /// The request without its redirect URI, or the error for a verified redirect URI.
    let parameters: Result<AuthorizationRequest, OAuthError>
    /// The request as the pages carry it, as a query.
    let carried: String
    private let returnMode: ResponseMode
    private let returnState: State?

    /// Parses a request; an error is shown on a page and never redirected.
    init(_ form: FormParameters) throws(ResponseTargetError) {
        do { target = try AuthorizationRequest.ResponseTarget(parsing: form) } catch { throw .target(error) }
        asksForOpenID = form.all("scope").contains { $0.split(separator: " ").contains("openid") }
        carried = AuthorizationPages.carried(form)
        var object: UnverifiedRequestObject?
        do {
            parameters = .success(try AuthorizationRequest(parsing: form, from: target.clientID, at: nil))
        } catch {
            parameters = .failure(error)
            if error.code == .requestNotSupported {
                object = form.all("request").first.map(UnverifiedRequestObject.init(parsing:))
            }
        }
        // A parameter outside the request object takes precedence. RFC 9101 §6.3 prefers the one inside only
        // after a server has verified the object.
        let stated = form.all("response_mode").isEmpty ? object?.responseMode : nil
        returnMode = stated ?? AuthorizationRequest.returnableMode(in: form)
        returnState = form.all("state").isEmpty ? object?.state : AuthorizationRequest.returnableState(in: form)
    }

    /// Refuses the request with an error response to the verified redirect URI.
    func refused(_ error: OAuthError, to verified: VerifiedResponseTarget) -> AuthorizationFlow.RedirectableError {
        let redirectURI = verified.redirectURI.uri
        return AuthorizationFlow.RedirectableError(
            error: error,
            redirectURI: redirectURI,
            mode: redirectURI.takesForms ? returnMode : .query,
            state: returnState,
            client: verified.client,
            isDenied: false
        )
    }
}
