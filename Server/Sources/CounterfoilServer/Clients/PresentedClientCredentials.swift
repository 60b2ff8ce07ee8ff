@_spi(Counterfoil) import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes

/// The client identifier and the credentials in a request, before they are verified.
struct PresentedClientCredentials: Sendable {
    /// The presented credentials, by client authentication method.
    enum Proof: Sendable {
        case none
        /// `client_secret`, in the body or in the `Authorization` field; nil if the text cannot be a secret.
        case secret(ClientSecret?)
        /// `client_assertion` (RFC 7523 §2.2).
        case assertion(String)
    }

    static let unknownClient = "there is no client with this client_id"

    /// `client_assertion_type` of a JWT (RFC 7523 §2.2).
    private static let assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

    let clientID: ClientIdentifier
    let proof: Proof
    private let usedAuthorizationField: Bool

    /// Reads a request; nil if it has neither a client identifier nor an assertion.
    init?(_ request: IncomingRequest, _ form: FormParameters) throws {
        let values: (clientID: String?, secret: String?, assertion: String?, assertionType: String?)
        do {
            values = try (
                form.single("client_id"), form.single("client_secret"), form.single("client_assertion"),
                form.single("client_assertion_type")
            )
        } catch { throw OAuthError(.invalidRequest, "\(error)") }
        let basic = try BasicCredentials(request.head.headerFields[values: .authorization])

        // RFC 6749 §2.3: a request uses one authentication method at most.
        let ways = [basic != nil, values.secret != nil, values.assertion != nil]
        guard ways.count(where: { $0 }) <= 1 else {
            throw OAuthError(.invalidRequest, "the request uses more than one client authentication method")
        }
        if let basic, let bodyID = values.clientID, bodyID != basic.clientID {
            throw OAuthError(.invalidRequest, "the client_id in the body differs from that in the Authorization field")
        }
        // RFC 7521 §4.2: `client_id` is optional if there is an assertion, whose subject identifies the client.
        let named = basic?.clientID ?? values.clientID
        guard let text = named ?? values.assertion.flatMap(ClientAssertionVerifier.unverifiedSubject) else {
            guard values.assertion == nil else {
                throw ClientRefusal(
                    OAuthError(.invalidClient, "the client_assertion is not a JWT with a sub claim"),
                    asksForAuthentication: false)
            }
            return nil
        }
        guard let clientID = ClientIdentifier(text) else {
            throw ClientRefusal(
                OAuthError(.invalidClient, Self.unknownClient), asksForAuthentication: basic != nil)
        }
        self.clientID = clientID
        usedAuthorizationField = basic != nil
        if let assertion = values.assertion {
            guard values.assertionType == Self.assertionType else {
                throw ClientRefusal(
                    OAuthError(.invalidClient, "client_assertion_type must be \(Self.assertionType)"),
                    asksForAuthentication: false, clientID: clientID)
            }
            proof = .assertion(assertion)
        } else if let secret = basic?.secret ?? values.secret {
            proof = .secret(ClientSecret(secret))
        } else {
            proof = .none
        }
    }

    /// Whether the request presents a secret or an assertion, which could be a guess.
    var isGuess: Bool {
        switch proof {
        case .none: false
        case .secret, .assertion: true
        }
    }

    /// Creates the error for a failed authentication.
    ///
    /// RFC 6749 §5.2: if the client used the `Authorization` field, the response has a `WWW-Authenticate` challenge.
    func refusal(_ description: String, asksForAuthentication: Bool = false) -> ClientRefusal {
        ClientRefusal(
            OAuthError(.invalidClient, description),
            asksForAuthentication: asksForAuthentication || usedAuthorizationField, clientID: clientID)
    }
}

/// A failed client authentication (RFC 6749 §5.2).
///
/// The response has the status 401 and a `WWW-Authenticate` challenge if the request used the `Authorization` field, or
/// if a known client with a secret did not authenticate. In other cases, such as a wrong `client_secret` in the body or
/// an invalid `client_assertion`, the status is 400: a challenge of Basic would hide the `error_description` from
/// clients that read only the challenge.
struct ClientRefusal: Error {
    let error: OAuthError
    let asksForAuthentication: Bool
    /// The client identifier in the request, which may belong to no client; nil if it is missing or malformed.
    let clientID: ClientIdentifier?

    init(_ error: OAuthError, asksForAuthentication: Bool, clientID: ClientIdentifier? = nil) {
        self.error = error
        self.asksForAuthentication = asksForAuthentication
        self.clientID = clientID
    }
}

extension ClientRefusal: RefusingAtEndpoint {
    func refusal(at endpoint: Endpoint) -> Refusal {
        var refusal = Refusal(
            error, status: asksForAuthentication ? .unauthorized : .badRequest,
            challenge: asksForAuthentication ? "Basic realm=\"\(endpoint) endpoint\"" : nil)
        refusal.client = clientID
        return refusal
    }
}

/// The credentials in `Authorization: Basic`; the identifier and the secret are both form-decoded (RFC 6749
/// §2.3.1).
private struct BasicCredentials {
    let clientID: String
    /// The secret; nil if nothing follows the colon.
    let secret: String?

    /// Reads the `Authorization` fields; nil if there are none.
    init?(_ fields: [String]) throws {
        guard let field = fields.first else { return nil }
        let refusal = ClientRefusal(
            OAuthError(
                .invalidClient, "the Authorization field must occur once, with HTTP Basic credentials and a client_id"),
            asksForAuthentication: true
        )
        guard fields.count == 1, field.utf8.count <= 8192 else { throw refusal }
        let parts = AuthorizationField(field)
        guard parts.scheme == "basic", let text = parts.credentials,
            let bytes = Self.base64(Array(text.utf8)[...]), let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            let clientID = Self.decoded(bytes[..<colon]), !clientID.isEmpty,
            let secret = Self.decoded(bytes[(colon + 1)...])
        else { throw refusal }
        self.clientID = clientID
        self.secret = secret.isEmpty ? nil : secret
    }

    /// Decodes the identifier or the secret; nil if it is not form-encoded text.
    private static func decoded(_ half: ArraySlice<UInt8>) -> String? {
        half.contains(UInt8(ascii: "&")) ? nil : FormParameters.decoded(half)
    }

    /// Decodes standard base64: converts it to base64url without padding, which the strict decoder accepts.
    private static func base64(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard !text.contains(UInt8(ascii: "-")), !text.contains(UInt8(ascii: "_")) else { return nil }
        var text = text
        while text.last == UInt8(ascii: "=") { text.removeLast() }
        return Base64URL.decode(
            utf8: text.map { byte in
                switch byte {
                case UInt8(ascii: "+"): UInt8(ascii: "-")
                case UInt8(ascii: "/"): UInt8(ascii: "_")
                default: byte
                }
            }
        )
    }
}
