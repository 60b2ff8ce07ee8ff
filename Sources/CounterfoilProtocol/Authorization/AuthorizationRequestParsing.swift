extension AuthorizationRequest {
    /// Who asks and where the answer would go: what must be sound before any answer may be sent there.
    ///
    /// RFC 6749 §4.1.2.1: when either is missing, invalid or does not match, the person is told on a page and nothing is
    /// redirected.
    public struct Addressee: Sendable, Hashable {
        /// `client_id`.
        public let clientID: ClientIdentifier
        /// `redirect_uri` as it came, unjudged; nil when it is left out.
        public let redirectURI: String?

        /// Why the answer can go nowhere.
        public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
            /// The parameters cannot be read, or `client_id` or `redirect_uri` is repeated.
            case parameters(FormParameters.Refusal)
            /// `client_id` is missing.
            case clientIDMissing
            /// `client_id` holds characters that it cannot.
            case clientIDMalformed

            /// What happened, safe to show.
            public var description: String {
                switch self {
                case .parameters(let refusal): "\(refusal)"
                case .clientIDMissing: "the request names no application: the parameter client_id is missing"
                case .clientIDMalformed: "the parameter client_id is not an identifier of an application"
                }
            }
        }

        /// Reads `client_id` and `redirect_uri`, and nothing else.
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

    /// The state to return with an error, when the request holds exactly one that can be returned.
    public static func returnableState(in form: FormParameters) -> State? {
        (try? form.single("state")).flatMap { $0 }.flatMap(State.init)
    }

    /// How an error is returned: as the request wants it, when it says so in a way that can be understood.
    public static func returnableMode(in form: FormParameters) -> ResponseMode {
        (try? form.single("response_mode")).flatMap { $0 }.flatMap(ResponseMode.init(rawValue:)) ?? .query
    }

    /// Reads the rest of a request whose addressee is sound; a refusal goes there as an error response.
    ///
    /// `redirectURI` is the one that the request names; nil when it is left out.
    public init(
        parsing form: FormParameters, from clientID: ClientIdentifier, at redirectURI: RedirectURI?
    ) throws(OAuthError) {
        let values = SingleValues(form)
        self.init(clientID: clientID, redirectURI: redirectURI)

        state = try values["state"].map { text throws(OAuthError) in
            guard let state = State(text) else {
                throw OAuthError(.invalidRequest, "state is longer than \(State.byteLimit) bytes")
            }
            return state
        }
        try Self.refuseRequestObjects(values)

        // RFC 6749 §3.1.1 and §4.1.2.1; OAuth 2.1 knows no other response type than code.
        guard let responseType = try values["response_type"] else {
            throw OAuthError(.invalidRequest, "the parameter response_type is missing; it must be code")
        }
        guard responseType == "code" else {
            throw OAuthError(.unsupportedResponseType, "the only response_type of this server is code")
        }
        responseMode = try values["response_mode"].map { text throws(OAuthError) in
            guard let mode = ResponseMode(rawValue: text) else {
                throw OAuthError(.invalidRequest, "response_mode must be query or form_post")
            }
            return mode
        }
        scope = try values["scope"].map { text throws(OAuthError) in
            do { return try Scope(parsing: text) } catch { throw OAuthError(.invalidScope, "\(error)") }
        }
        presentedChallenge = try Self.presentedChallenge(values)
        nonce = try values["nonce"].map { text throws(OAuthError) in
            guard let nonce = Nonce(text) else {
                throw OAuthError(.invalidRequest, "nonce is longer than \(Nonce.byteLimit) bytes")
            }
            return nonce
        }
        prompt = try Self.prompt(values)
        maxAge = try Self.maxAge(values)
        loginHint = try values["login_hint"].map { $0.prefix(bytes: 320) }
        uiLocales = try values["ui_locales"].map { $0.prefix(bytes: 320) }
        resources = try form.resources()
        // OpenID Connect Core §3.1.2.1: a voluntary wish, of which what is unknown is left alone; so are `display` and
        // `claims_locales`, on which nothing here depends.
        authenticationContexts = (try values["acr_values"] ?? "").split(separator: " ").prefix(16).map(String.init)
        claims = try values["claims"].map { text throws(OAuthError) in
            do { return try RequestedClaims.parameter(parsing: text) } catch {
                throw OAuthError(.invalidRequest, "\(error)")
            }
        }
        idTokenHint = try values["id_token_hint"].map { text throws(OAuthError) in
            guard let token = IDToken(text) else {
                throw OAuthError(.invalidRequest, "id_token_hint is not an ID token")
            }
            return token
        }
    }

    /// OpenID Connect Core §3.1.2.6: what is not supported is said so, never silently ignored.
    private static func refuseRequestObjects(_ values: SingleValues) throws(OAuthError) {
        if try values["request"] != nil {
            throw OAuthError(.requestNotSupported, "this server takes no request objects")
        }
        if try values["request_uri"] != nil {
            throw OAuthError(.requestURINotSupported, "this server takes no request_uri")
        }
        if try values["registration"] != nil {
            throw OAuthError(.registrationNotSupported, "this server takes no registration in a request")
        }
    }

    /// RFC 7636 §4.3: a challenge without a method means `plain`; whether an application may use that is its server's to say.
    private static func presentedChallenge(_ values: SingleValues) throws(OAuthError) -> PresentedChallenge? {
        let challenge = try values["code_challenge"]
        let method = try values["code_challenge_method"]
        switch (challenge, method) {
        case (nil, nil):
            return nil
        case (nil, _?):
            throw OAuthError(
                .invalidRequest, "code challenge required: code_challenge_method came without code_challenge")
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
            throw OAuthError(.invalidRequest, "the only code_challenge_method of this server is S256")
        }
    }

    private static func prompt(_ values: SingleValues) throws(OAuthError) -> Set<Prompt> {
        guard let text = try values["prompt"] else { return [] }
        // Unknown values are for other servers (OpenID Connect Core §3.1.2.1).
        let prompts = Set(text.split(separator: " ").compactMap { Prompt(rawValue: String($0)) })
        guard !prompts.contains(.none) || text == Prompt.none.rawValue else {
            throw OAuthError(.invalidRequest, "prompt=none allows no other value beside it")
        }
        return prompts
    }

    private static func maxAge(_ values: SingleValues) throws(OAuthError) -> Int? {
        guard let text = try values["max_age"] else { return nil }
        guard text.utf8.count <= 10, text.utf8.allSatisfy(\.isDigit), let seconds = Int(text) else {
            throw OAuthError(.invalidRequest, "max_age must be a number of seconds")
        }
        return seconds
    }
}

/// The parameters that may be given once, with the refusal of RFC 6749 §3.1 for those that are repeated.
struct SingleValues {
    private let form: FormParameters

    init(_ form: FormParameters) { self.form = form }

    subscript(name: String) -> String? {
        get throws(OAuthError) {
            do { return try form.single(name) } catch { throw OAuthError(.invalidRequest, "\(error)") }
        }
    }
}

extension Optional {
    /// `map` that keeps the type of the error.
    func map<Result, Failure: Error>(_ transform: (Wrapped) throws(Failure) -> Result) throws(Failure) -> Result? {
        switch self {
        case .none: nil
        case .some(let value): try transform(value)
        }
    }
}
