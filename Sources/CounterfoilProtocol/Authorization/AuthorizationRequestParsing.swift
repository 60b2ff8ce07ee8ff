extension AuthorizationRequest {
    /// The client identifier and the redirect URI of a request.
    ///
    /// The server must validate them before it sends a response to the redirect URI. RFC 6749 §4.1.2.1: if
    /// either of them is missing, invalid or mismatched, the server shows an error page to the user and does
    /// not redirect.
    public struct ResponseTarget: Sendable, Hashable {
        /// The client that the request names (parameter `client_id`).
        public let clientID: ClientIdentifier
        /// The URI to which the client requests the response, unparsed (parameter `redirect_uri`); nil if omitted.
        public let redirectURI: String?

        /// The reason why the server cannot send a response to the client.
        public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
            /// The parameters are malformed, or `client_id` or `redirect_uri` is repeated.
            case parameters(FormParameters.Refusal)
            /// `client_id` is missing.
            case clientIDMissing
            /// `client_id` contains invalid characters or is too long.
            case clientIDMalformed

            /// An explanation that is safe to show to users.
            public var description: String {
                switch self {
                case .parameters(let refusal): "\(refusal)"
                case .clientIDMissing: "the parameter client_id is missing"
                case .clientIDMalformed: "the parameter client_id contains invalid characters or is too long"
                }
            }
        }

        /// Parses `client_id` and `redirect_uri`, and no other parameter.
        public init(parsing form: FormParameters) throws(Refusal) {
            let identifier: String?
            do {
                identifier = try form.single("client_id")
                redirectURI = try form.single("redirect_uri")
            } catch { throw .parameters(error) }
            guard let identifier else { throw .clientIDMissing }
            guard let clientID = ClientIdentifier(identifier) else { throw .clientIDMalformed }
            self.clientID = clientID
        }
    }

    /// Returns the `state` for an error response; nil if it is missing or repeated in the request.
    ///
    /// RFC 6749 §4.1.2.1: the response contains the exact value of the request, also if its length is the error.
    public static func returnableState(in form: FormParameters) -> OAuthState? {
        (try? form.single("state")).flatMap { $0 }.flatMap(OAuthState.returnable)
    }

    /// Returns the response mode for an error response.
    ///
    /// The result is the value of `response_mode` if the request contains the parameter once, with a valid value. In
    /// all other cases, the result is ``ResponseMode/query``.
    public static func returnableMode(in form: FormParameters) -> ResponseMode {
        (try? form.single("response_mode")).flatMap { $0 }.flatMap(ResponseMode.init(rawValue:)) ?? .query
    }

    /// Parses the remaining parameters of a request whose client and redirect URI are valid.
    ///
    /// - Parameters:
    ///   - form: The parameters of the request.
    ///   - clientID: The identifier of the client, which the caller has validated.
    ///   - redirectURI: The redirect URI in the request, which the caller has validated; nil if omitted.
    /// - Throws: An ``OAuthError`` that the server sends to the redirect URI as an error response.
    public init(
        parsing form: FormParameters, from clientID: ClientIdentifier, at redirectURI: RedirectURI?
    ) throws(OAuthError) {
        let values = SingleValues(form)
        self.init(clientID: clientID, redirectURI: redirectURI)

        state = try values.value("state", or: "state is longer than \(OAuthState.byteLimit) bytes") { OAuthState($0) }
        try Self.refuseRequestObjects(values)

        // RFC 6749 §3.1.1 and §4.1.2.1: OAuth 2.1 has only the response type `code`.
        guard let responseType = try values["response_type"] else {
            throw OAuthError(.invalidRequest, "the parameter response_type is missing; it must be code")
        }
        guard responseType == "code" else {
            throw OAuthError(.unsupportedResponseType, "this server supports only response_type=code")
        }
        responseMode = try values.value("response_mode", or: "response_mode must be query, fragment or form_post") {
            ResponseMode(rawValue: $0)
        }
        scope = try values.scope()
        presentedChallenge = try Self.presentedChallenge(values)
        keyThumbprint = try values.value(
            "dpop_jkt", or: "dpop_jkt must be the 43 base64url characters of the SHA-256 thumbprint of a key"
        ) { KeyThumbprint($0) }
        nonce = try values.value("nonce", or: "nonce is longer than \(Nonce.byteLimit) bytes") { Nonce($0) }
        prompt = try Self.prompt(values)
        maxAge = try Self.maxAge(values)
        loginHint = try values["login_hint"].map { $0.prefix(bytes: 320) }
        deviceName = try values.deviceName()
        uiLocales = try values["ui_locales"].map { $0.prefix(bytes: 320) }
        resources = try form.resources()
        // OpenID Connect Core §3.1.2.1: `acr_values` is a preference, so an unknown value is not an error.
        // `display` and `claims_locales` are not parsed, because the server has no feature that depends on
        // them.
        authenticationContexts = (try values["acr_values"] ?? "").split(separator: " ").prefix(16).map(String.init)
        claims = try values["claims"].map { text throws(OAuthError) in
            do { return try RequestedClaims.parameter(parsing: text) } catch {
                throw OAuthError(.invalidRequest, "\(error)")
            }
        }
        idTokenHint = try values.value("id_token_hint", or: "id_token_hint is not an ID token") { IDToken($0) }
    }

    /// Rejects the unsupported parameters `request`, `request_uri` and `registration` (OpenID Connect Core §3.1.2.6).
    ///
    /// They are not ignored, because the client relies on their content.
    private static func refuseRequestObjects(_ values: SingleValues) throws(OAuthError) {
        if try values["request"] != nil {
            throw OAuthError(.requestNotSupported, "this server does not support request objects")
        }
        if try values["request_uri"] != nil {
            throw OAuthError(.requestURINotSupported, "this server does not support the parameter request_uri")
        }
        if try values["registration"] != nil {
            throw OAuthError(.registrationNotSupported, "this server does not support the parameter registration")
        }
    }

    /// Parses the PKCE challenge and its method, which is `plain` if omitted (RFC 7636 §4.3).
    ///
    /// Parsing accepts `plain`. The server then decides whether the client may use this method.
    static func presentedChallenge(_ values: SingleValues) throws(OAuthError) -> PresentedChallenge? {
        let challenge = try values["code_challenge"]
        let method = try values["code_challenge_method"]
        switch (challenge, method) {
        case (nil, nil):
            return nil
        case (nil, _?):
            throw OAuthError(
                .invalidRequest, "code challenge required: code_challenge_method is present without code_challenge")
        case (let challenge?, nil), (let challenge?, PresentedChallenge.plainMethod?):
            guard let verifier = CodeVerifier(challenge) else {
                throw OAuthError(
                    .invalidRequest,
                    "code_challenge must be the SHA-256 of the code_verifier in base64url, with code_challenge_method=S256"
                )
            }
            return .plain(CodeChallenge(of: verifier), isNamed: method != nil)
        case (let challenge?, CodeChallenge.method?):
            guard let challenge = CodeChallenge(challenge) else {
                throw OAuthError(
                    .invalidRequest,
                    "code_challenge must be the 43 base64url characters of the SHA-256 of the code_verifier"
                )
            }
            return .s256(challenge)
        case (_?, _?):
            throw OAuthError(.invalidRequest, "this server supports only code_challenge_method=S256")
        }
    }

    private static func prompt(_ values: SingleValues) throws(OAuthError) -> Set<Prompt> {
        guard let text = try values["prompt"] else { return [] }
        // OpenID Connect Core §3.1.2.1: unknown values are ignored.
        let words = text.split(separator: " ").map(String.init)
        let prompts = Set(words.compactMap { Prompt(rawValue: $0) })
        guard !prompts.contains(.none) || words.count == 1 else {
            throw OAuthError(.invalidRequest, "prompt=none cannot be combined with other values")
        }
        return prompts
    }

    private static func maxAge(_ values: SingleValues) throws(OAuthError) -> Int? {
        try values.value("max_age", or: "max_age must be a number of seconds") { text in
            text.utf8.count <= 10 && text.utf8.allSatisfy(\.isDigit) ? Int(text) : nil
        }
    }
}

/// A reader of parameters that may occur at most once; it throws `invalid_request` for a repeated parameter
/// (RFC 6749 §3.1).
struct SingleValues {
    private let form: FormParameters

    init(_ form: FormParameters) { self.form = form }

    subscript(name: String) -> String? {
        get throws(OAuthError) {
            do { return try form.single(name) } catch { throw OAuthError(.invalidRequest, "\(error)") }
        }
    }

    /// Returns `device_name`, an extension, truncated to 320 bytes; nil if it is omitted.
    func deviceName() throws(OAuthError) -> String? { try self["device_name"].map { $0.prefix(bytes: 320) } }

    /// Returns a parameter; throws if it is missing.
    func required(_ name: String) throws(OAuthError) -> String {
        guard let value = try self[name] else {
            throw OAuthError(.invalidRequest, "the parameter \(name) is missing")
        }
        return value
    }

    /// Parses a parameter; returns nil if it is omitted, and throws an error with the explanation if it is invalid.
    func value<Value>(
        _ name: String, or explanation: String, parse: (String) -> Value?
    ) throws(OAuthError) -> Value? {
        guard let text = try self[name] else { return nil }
        guard let value = parse(text) else { throw OAuthError(.invalidRequest, explanation) }
        return value
    }
}
