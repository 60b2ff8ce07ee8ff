/// What comes back through the browser.
///
/// RFC 6749 §4.1.2 and §4.1.2.1, RFC 9207 §2. The parameters stand in the query of the redirect URI.
public struct AuthorizationResponse: Sendable, Hashable {
    /// What was decided.
    public enum Outcome: Sendable, Hashable {
        /// The person allowed it, `code`.
        case code(AuthorizationCode)
        /// It was refused, `error` and `error_description`.
        case error(OAuthError)
    }

    /// What was decided.
    public let outcome: Outcome
    /// `state`; nil when the request had none.
    public let state: State?
    /// `iss`, byte for byte; nil when a server does not send it (RFC 9207 §2).
    public let issuer: String?

    /// The answer of a server that names itself.
    public init(_ outcome: Outcome, state: State?, issuer: Issuer) {
        self.outcome = outcome
        self.state = state
        self.issuer = issuer.rawValue
    }

    /// The wire form.
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

    /// The URL to which the browser is sent: the redirect URI with the answer in its query.
    public func url(to redirectURI: RedirectURI) -> String {
        redirectURI.appending(parameters)
    }

    /// Why the parameters of a callback are not an authorization response.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The parameters cannot be read, or one of the protocol is repeated.
        case parameters(FormParameters.Refusal)
        /// Neither a code nor an error.
        case empty
        /// A code and an error at once.
        case contradictory
        /// A code, state or error that cannot be one.
        case malformed(String)

        /// What happened, safe to show.
        public var description: String {
            switch self {
            case .parameters(let refusal): "\(refusal)"
            case .empty: "the answer holds neither a code nor an error"
            case .contradictory: "the answer holds a code and an error at once"
            case .malformed(let name): "the parameter \(name) of the answer is malformed"
            }
        }
    }

    /// Reads the parameters of a callback.
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
            guard let state = State(text) else { throw .malformed("state") }
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
