/// An authorization response, which the browser delivers from the server to the client.
///
/// RFC 6749 §4.1.2 and §4.1.2.1, RFC 9207 §2. ``ResponseMode`` decides whether the parameters are in the query
/// or the fragment of the redirect URI, or in a posted form.
public struct AuthorizationResponse: Sendable, Hashable {
    /// The result of an authorization request: a code or an error.
    public enum Outcome: Sendable, Hashable {
        /// The request was approved; the response contains `code`.
        case code(AuthorizationCode)
        /// The request was denied or failed; the response contains `error` and, optionally, `error_description`.
        case error(OAuthError)
    }

    /// The authorization code, or the error that prevented one.
    public let outcome: Outcome
    /// The value that the client sent in the request (parameter `state`); nil if it sent none.
    public let state: OAuthState?
    /// The issuer that sent the response, unparsed (parameter `iss`, RFC 9207 §2); nil if omitted.
    public let issuer: String?

    /// Creates a response with `iss`, as a server sends it.
    public init(_ outcome: Outcome, state: OAuthState?, issuer: Issuer) {
        self.outcome = outcome
        self.state = state
        self.issuer = issuer.rawValue
    }

    /// The response as form parameters: `code` or the error, then `state` and `iss`.
    public var parameters: FormParameters {
        var form = FormParameters()
        switch outcome {
        case .code(let code):
            form.append("code", code.exposed)
        case .error(let error):
            form.append("error", error.code.rawValue)
            form.append("error_description", ifPresent: error.description)
        }
        form.append("state", ifPresent: state?.exposed)
        form.append("iss", ifPresent: issuer)
        return form
    }

    /// Returns the redirect URI with the response in its query, for ``ResponseMode/query``.
    public func url(to redirectURI: RedirectURI) -> String {
        redirectURI.appending(parameters)
    }

    /// Returns the redirect URI with the response in its fragment, for ``ResponseMode/fragment``.
    ///
    /// A redirect URI has no fragment of its own (RFC 6749 §3.1.2).
    public func url(toFragmentOf redirectURI: RedirectURI) -> String {
        redirectURI.rawValue + "#" + parameters.encoded
    }

    /// The reason why the parameters that a redirect URI received are not a valid authorization response.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The parameters are malformed, or a parameter of the authorization response is repeated.
        case parameters(FormParameters.Refusal)
        /// The response contains neither `code` nor `error`.
        case empty
        /// The response contains both `code` and `error`.
        case contradictory
        /// `code`, `state` or `error` has an invalid value; the associated value is the parameter name.
        case malformed(String)

        /// An explanation that is safe to show to users.
        public var description: String {
            switch self {
            case .parameters(let refusal): "\(refusal)"
            case .empty: "the response contains neither a code nor an error"
            case .contradictory: "the response contains both a code and an error"
            case .malformed(let name): "the parameter \(name) of the response is malformed"
            }
        }
    }

    /// Parses the parameters that the redirect URI received.
    ///
    /// An `error_description` of more than 1024 characters is truncated.
    public init(parsing form: FormParameters) throws(Refusal) {
        let code: String?
        let error: String?
        let description: String?
        let state: String?
        do {
            code = try form.single("code")
            error = try form.single("error")
            description = try form.single("error_description")
            state = try form.single("state")
            issuer = try form.single("iss")
        } catch { throw .parameters(error) }
        self.state = try state.map { text throws(Refusal) in
            guard let state = OAuthState(text) else { throw .malformed("state") }
            return state
        }
        switch (code, error) {
        case (nil, nil): throw .empty
        case (_?, _?): throw .contradictory
        case (let code?, nil):
            guard let code = AuthorizationCode(code) else { throw .malformed("code") }
            outcome = .code(code)
        case (nil, let error?):
            guard (1...256).contains(error.utf8.count), error.utf8.allSatisfy(\.isVisibleOrSpace) else {
                throw .malformed("error")
            }
            outcome = .error(OAuthError(.init(rawValue: error), description.map { String($0.prefix(1024)) }))
        }
    }
}
