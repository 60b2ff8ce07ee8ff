import CounterfoilProtocol
import CounterfoilTokens

/// The metadata of a client, as its document or its registration request contains them (RFC 7591 §2).
///
/// The values have the right JSON types and lengths. ``UnregisteredClientRules`` checks the rest. Unknown members are
/// ignored.
struct ClientMetadata: Sendable, Hashable {
    /// The reason why metadata are refused, with the error code of RFC 7591 §3.2.2.
    struct Refusal: Error, Hashable, CustomStringConvertible {
        enum Code: String, Sendable {
            case invalidRedirectURI = "invalid_redirect_uri"
            case invalidClientMetadata = "invalid_client_metadata"
            case invalidSoftwareStatement = "invalid_software_statement"
        }

        let code: Code
        let description: String

        init(_ code: Code, _ description: String) {
            self.code = code
            self.description = description
        }

        /// Creates the refusal of a member other than `redirect_uris`.
        init(_ description: String) { self.init(.invalidClientMetadata, description) }
    }

    /// `application_type` (OpenID Connect Registration §2).
    enum ApplicationType: String, Sendable {
        case native, web
    }

    /// `redirect_uris`.
    let redirectURIs: [String]
    /// `token_endpoint_auth_method`; nil if it is not named.
    let authenticationMethod: String?
    /// `grant_types`; nil if it is not named.
    let grantTypes: [String]?
    /// `response_types`; nil if it is not named.
    let responseTypes: [String]?
    let applicationType: ApplicationType?
    /// `client_name`.
    let name: String?
    let clientURI: String?
    let logoURI: String?
    let policyURI: String?
    let termsURI: String?
    /// `scope`; a scope that the server does not have is no error.
    let scope: Scope?
    /// `jwks` as it was received.
    let keys: JSONValue?
    let keysURI: String?
    let postLogoutRedirectURIs: [String]
    let backchannelLogoutURI: String?
    /// `require_pushed_authorization_requests` (RFC 9126 §6).
    let requiresPushedRequests: Bool
    /// `dpop_bound_access_tokens` (RFC 9449 §5.2).
    let requiresBoundTokens: Bool
    let idTokenAlgorithm: String?
    let subjectType: String?
    let sectorIdentifierURI: String?
    /// The names of the members that contain a client secret, which a document must not have.
    let secretMembers: [String]
    /// Whether the members contain a software statement, which the server does not support (RFC 7591 §2.3).
    let hasSoftwareStatement: Bool

    /// The maximum number of elements of a list.
    private static let listLimit = 50

    /// Reads the members of a JSON object.
    init(_ members: [String: JSONValue]) throws(Refusal) {
        redirectURIs = try members.texts("redirect_uris") ?? []
        authenticationMethod = try members.text("token_endpoint_auth_method")
        grantTypes = try members.texts("grant_types")
        responseTypes = try members.texts("response_types")
        applicationType = try members.text("application_type").map { text throws(Refusal) in
            guard let type = ApplicationType(rawValue: text) else {
                throw Refusal("application_type must be native or web")
            }
            return type
        }
        name = try members.text("client_name")
        clientURI = try members.text("client_uri")
        logoURI = try members.text("logo_uri")
        policyURI = try members.text("policy_uri")
        termsURI = try members.text("tos_uri")
        scope = try members.text("scope").map { text throws(Refusal) in
            guard let scope = try? Scope(parsing: text) else { throw Refusal("scope is not a list of scopes") }
            return scope
        }
        keys = members["jwks"].flatMap { $0 == .null ? nil : $0 }
        keysURI = try members.text("jwks_uri")
        // RFC 7591 §2: the members must not both be present.
        guard keys == nil || keysURI == nil else { throw Refusal("jwks and jwks_uri must not both be present") }
        postLogoutRedirectURIs = try members.texts("post_logout_redirect_uris") ?? []
        backchannelLogoutURI = try members.text("backchannel_logout_uri")
        requiresPushedRequests = try members.flag("require_pushed_authorization_requests")
        requiresBoundTokens = try members.flag("dpop_bound_access_tokens")
        idTokenAlgorithm = try members.text("id_token_signed_response_alg")
        subjectType = try members.text("subject_type")
        sectorIdentifierURI = try members.text("sector_identifier_uri")
        secretMembers = members.keys.filter { $0.hasPrefix("client_secret") }.sorted()
        hasSoftwareStatement = members["software_statement"] != nil
    }

    /// The maximum length of a text in bytes.
    private static let textLimit = 2048

    fileprivate static func checked(_ text: String, _ name: String) throws(Refusal) -> String {
        guard text.utf8.count <= textLimit else { throw Refusal("\(name) is longer than \(textLimit) bytes") }
        return text
    }

    fileprivate static func checked(_ values: [JSONValue], _ name: String) throws(Refusal) -> [String] {
        guard values.count <= listLimit else { throw Refusal("\(name) has more than \(listLimit) elements") }
        var texts: [String] = []
        for value in values {
            guard case .string(let text) = value else { throw Refusal("\(name) must be an array of strings") }
            texts.append(try checked(text, name))
        }
        return texts
    }
}

extension [String: JSONValue] {
    /// Returns a member that is a string; nil if it is absent, null or empty.
    fileprivate func text(_ name: String) throws(ClientMetadata.Refusal) -> String? {
        switch self[name] {
        case nil, .null?, .string("")?: return nil
        case .string(let text)?: return try ClientMetadata.checked(text, name)
        default: throw ClientMetadata.Refusal("\(name) must be a string")
        }
    }

    /// Returns a member that is an array of strings; nil if it is absent or null.
    fileprivate func texts(_ name: String) throws(ClientMetadata.Refusal) -> [String]? {
        switch self[name] {
        case nil, .null?: return nil
        case .array(let values)?: return try ClientMetadata.checked(values, name)
        default: throw ClientMetadata.Refusal("\(name) must be an array of strings")
        }
    }

    /// Returns a member that is a boolean; false if it is absent or null.
    fileprivate func flag(_ name: String) throws(ClientMetadata.Refusal) -> Bool {
        switch self[name] {
        case nil, .null?: return false
        case .boolean(let flag)?: return flag
        default: throw ClientMetadata.Refusal("\(name) must be true or false")
        }
    }
}
