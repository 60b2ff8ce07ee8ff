@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes

/// The body of a request to register a client or to replace its registration (RFC 7591 §3.1, RFC 7592 §2.2).
///
/// Unknown members are ignored, and the response does not contain them (RFC 7591 §2).
struct RegistrationRequest: Sendable {
    typealias Refusal = ClientMetadata.Refusal

    /// All members of the JSON object.
    let members: [String: JSONValue]
    let metadata: ClientMetadata
    let contacts: [String]?
    let softwareID: String?
    let softwareVersion: String?
    /// `initiate_login_uri` (OpenID Connect Registration §2).
    let initiateLoginURI: AbsoluteURI?

    /// Reads the body of a request; its content type must be `client/json`.
    init(_ request: IncomingRequest) throws(Refusal) {
        let types = request.head.headerFields[values: .contentType]
        let type = types.first.flatMap { ParameterizedValue(parsing: Array($0.utf8)) }?.value
        guard types.count == 1, type == "application/json" else {
            throw Refusal("the content type of a registration must be application/json")
        }
        guard let members = try? JSONReader.object(request.body) else {
            throw Refusal("the body is not a JSON object, a member occurs twice, or it is nested too deeply")
        }
        try self.init(members)
    }

    private init(_ members: [String: JSONValue]) throws(Refusal) {
        self.members = members
        if members["software_statement"] ?? .null != .null {
            throw Refusal(.invalidSoftwareStatement, "software statements are not supported; omit software_statement")
        }
        metadata = try ClientMetadata(members)
        contacts = try members.strings("contacts")
        softwareID = try members.string("software_id")
        softwareVersion = try members.string("software_version")
        initiateLoginURI = try members.string("initiate_login_uri").map { text throws(Refusal) in
            guard let uri = AbsoluteURI(ofPage: text) else {
                throw Refusal("initiate_login_uri must be an https URL")
            }
            return uri
        }
        try Self.checkResponses(members)
    }

    /// The members with which a client asks for an encryption of the user's data that the server does not make.
    ///
    /// Other forms of responses that the server does not have, such as a signed UserInfo response or those of JARM, are
    /// ignored like unknown members: the response shows that the client is registered without them (RFC 7591 §3.2.1).
    private static let encryptions = ["id_token_encrypted_response_alg", "userinfo_encrypted_response_alg"]

    /// The members with which a client asks for checks that the server does not make.
    private static let checks = ["require_signed_request_object", "tls_client_certificate_bound_access_tokens"]

    /// Refuses what the client would rely on, although the server does not support it.
    private static func checkResponses(_ members: [String: JSONValue]) throws(Refusal) {
        for name in encryptions {
            guard try members.string(name) == nil else { throw Refusal("\(name) is not supported; omit it") }
        }
        for name in checks {
            guard try !members.boolean(name) else { throw Refusal("\(name) is not supported; omit it") }
        }
    }
}

extension ClientMetadata.Refusal: Refusing {
    /// 400 with the error code of RFC 7591 §3.2.2.
    var refusal: CounterfoilServer.Refusal {
        CounterfoilServer.Refusal(OAuthError(OAuthError.Code(rawValue: code.rawValue), description))
    }
}
