import CounterfoilProtocol
import HTTPTypes

/// A request with `prompt=none` in a frame, as single-page clients send it to renew a sign-in.
///
/// No page of this server can be shown in a frame, so every response to such a request that can go to the client goes
/// there by a redirect, errors included (OpenID Connect Core §3.1.2.6). The protection against open redirectors is not
/// needed: a frame cannot take the user from the page that contains it to another one.
struct SilentFrame: Sendable {
    /// Returns nil for any other request.
    init?(_ parsed: ParsedAuthorizationRequest, in request: IncomingRequest) {
        guard parsed.forbidsPages, request.isForFrame else { return nil }
    }

    /// Returns the error for a request that wants the response in a form; nil for any other request.
    ///
    /// The page that posts the form cannot be shown in a frame, so the client would never get the code.
    func refusal(of request: AuthorizationRequest) -> OAuthError? {
        guard request.responseMode == .formPost else { return nil }
        return OAuthError(
            .invalidRequest, "response_mode=form_post is not possible in a frame; use response_mode=query")
    }

    /// Returns the refusal as a redirect to the redirect URI, whatever the trust in the client; in place of a form, the
    /// response is in the query.
    func redirecting(_ refused: AuthorizationFlow.RedirectableError) -> AuthorizationFlow.RedirectableError {
        var refused = refused
        if refused.mode == .formPost { refused.mode = .query }
        refused.isInFrame = true
        return refused
    }
}

extension IncomingRequest {
    /// Whether a browser will show the response in a frame (Fetch Metadata §2.1); false if it does not say so.
    fileprivate var isForFrame: Bool {
        guard let name = HTTPField.Name("Sec-Fetch-Dest") else { return false }
        let destinations = head.headerFields[values: name]
        return destinations == ["iframe"] || destinations == ["frame"]
    }
}
