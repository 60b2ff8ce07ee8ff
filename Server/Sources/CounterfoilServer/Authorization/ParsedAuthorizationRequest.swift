@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore

/// An authorization request, parsed once.
///
/// The caller uses the parts in the order of their verification: first the client and the redirect URI, then
/// the other parameters. The form is not parsed a second time.
struct ParsedAuthorizationRequest: Sendable {
    /// The client and the redirect URI, unverified.
    let target: AuthorizationRequest.ResponseTarget
    /// Whether `scope` contains `openid`; correct even if another parameter is invalid.
    let asksForOpenID: Bool
    /// Whether `prompt` contains `none`, so that no page may be shown; correct even if another parameter is invalid.
    let forbidsPages: Bool
    /// The request without its redirect URI, or the error to send once the redirect URI is verified.
    let parameters: Result<AuthorizationRequest, OAuthError>
    /// The request as a query, which the pages carry in a hidden field.
    ///
    /// It contains all parameters, but for a pushed request only `client_id` and `request_uri`.
    let pendingRequest: String
    /// The parameter `audience`, if the request has it and no `resource`.
    let audience: AudienceParameter?
    /// The pushed request that contains the parameters; nil if the browser brought them.
    let pushed: PushedRequest?
    /// The response mode of the request; correct even if another parameter is invalid.
    let returnMode: ResponseMode
    /// `state` of the request; correct even if another parameter is invalid.
    let returnState: OAuthState?

    /// Parses a request; an error that it throws is shown on a page and never redirected.
    init(_ form: FormParameters) throws(ResponseTargetError) {
        try self.init(form, pendingRequest: AuthorizationPages.pendingRequest(form), pushed: nil)
    }

    /// Parses the parameters of a pushed request that a browser opened with its `request_uri` (RFC 9126 §4).
    init(_ pushed: PushedRequest, at uri: PushedRequestURI) throws(ResponseTargetError) {
        let form: FormParameters
        // The parameters were within the default limit. Their encoding here can be three times as long.
        do {
            form = try FormParameters(parsing: pushed.parameters, byteLimit: 4 * FormParameters.defaultByteLimit)
        } catch {
            throw .target(.parameters(error), clientID: pushed.clientID.rawValue)
        }
        let pendingRequest = FormParameters(["client_id": pushed.clientID.rawValue, "request_uri": uri.rawValue])
            .encoded
        try self.init(form, pendingRequest: pendingRequest, pushed: pushed)
    }

    private init(_ form: FormParameters, pendingRequest: String, pushed: PushedRequest?) throws(ResponseTargetError) {
        do { target = try AuthorizationRequest.ResponseTarget(parsing: form) } catch {
            throw .target(error, clientID: try? form.single("client_id"))
        }
        asksForOpenID = form.all("scope").contains { $0.split(separator: " ").contains("openid") }
        forbidsPages = form.all("prompt").contains { $0.split(separator: " ").contains("none") }
        self.pendingRequest = pendingRequest
        self.pushed = pushed
        audience = AudienceParameter(form)
        var object: UnverifiedRequestObject?
        do {
            parameters = .success(try AuthorizationRequest(parsing: form, from: target.clientID, at: nil))
        } catch {
            parameters = .failure(error)
            if error.code == .requestNotSupported {
                object = form.all("request").first.map(UnverifiedRequestObject.init(parsing:))
            }
        }
        // The parameters `response_mode` and `state` take precedence over those in the unverified request object.
        // RFC 9101 §6.3 gives precedence to the object only after a server has verified it.
        let stated = form.all("response_mode").isEmpty ? object?.responseMode : nil
        returnMode = stated ?? AuthorizationRequest.returnableMode(in: form)
        returnState = form.all("state").isEmpty ? object?.state : AuthorizationRequest.returnableState(in: form)
    }

    /// Returns an error of the request, which also explains that the server ignores `audience` if the request has it.
    func explaining(_ error: OAuthError) -> OAuthError { audience?.explaining(error) ?? error }
}
