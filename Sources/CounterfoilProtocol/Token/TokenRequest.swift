/// What an application asks of the token endpoint: one case for each grant.
///
/// RFC 6749 §3.2 and §4.1.3. Who asks is not in here; client authentication reads that from the same request.
public enum TokenRequest: Sendable, Hashable {
    /// `grant_type=authorization_code`.
    case authorizationCode(CodeExchange)

    /// The exchange of a code (RFC 6749 §4.1.3, RFC 7636 §4.5).
    public struct CodeExchange: Sendable, Hashable {
        /// `code`.
        public let code: AuthorizationCode
        /// `redirect_uri`, byte for byte; nil when it is left out.
        public let redirectURI: String?
        /// `code_verifier`; nil when it is left out.
        public let codeVerifier: CodeVerifier?

        /// `scope`, which some clients repeat although the standard does not have it here; nil when it is left out.
        public let scope: Scope?

        /// Makes an exchange.
        public init(code: AuthorizationCode, redirectURI: String?, codeVerifier: CodeVerifier?, scope: Scope? = nil) {
            self.code = code
            self.scope = scope
            self.redirectURI = redirectURI
            self.codeVerifier = codeVerifier
        }
    }

    /// `grant_type` as it stands on the wire.
    public var grantType: String {
        switch self {
        case .authorizationCode: "authorization_code"
        }
    }

    /// Reads the body of a token request.
    public init(parsing form: FormParameters) throws(OAuthError) {
        let values = SingleValues(form)
        guard let grantType = try values["grant_type"] else {
            throw OAuthError(.invalidRequest, "the parameter grant_type is missing")
        }
        switch grantType {
        case "authorization_code":
            self = .authorizationCode(try CodeExchange(values))
        default:
            throw OAuthError(.unsupportedGrantType, "this server has no such grant_type")
        }
    }

    /// The wire form, with the identifier of the public client that asks (RFC 6749 §4.1.3).
    public func parameters(clientID: ClientIdentifier) -> FormParameters {
        var form = FormParameters(["grant_type": grantType, "client_id": clientID.rawValue])
        switch self {
        case .authorizationCode(let exchange):
            form.append("code", exchange.code.exposed)
            form.append("redirect_uri", ifPresent: exchange.redirectURI)
            form.append("code_verifier", ifPresent: exchange.codeVerifier?.exposed)
            form.append("scope", ifPresent: exchange.scope?.description)
        }
        return form
    }
}

extension TokenRequest.CodeExchange {
    fileprivate init(_ values: SingleValues) throws(OAuthError) {
        guard let code = try values["code"] else {
            throw OAuthError(.invalidRequest, "the parameter code is missing")
        }
        guard let code = AuthorizationCode(code) else {
            throw OAuthError(.invalidGrant, "the code is not one of this server")
        }
        let verifier = try values["code_verifier"].map { text throws(OAuthError) in
            guard let verifier = CodeVerifier(presented: text) else {
                throw OAuthError(
                    .invalidRequest,
                    "code_verifier must be 43 to 128 characters: letters, digits and - . _ ~"
                )
            }
            return verifier
        }
        let scope = try values["scope"].map { text throws(OAuthError) in
            do { return try Scope(parsing: text) } catch { throw OAuthError(.invalidScope, "\(error)") }
        }
        self.init(code: code, redirectURI: try values["redirect_uri"], codeVerifier: verifier, scope: scope)
    }
}
