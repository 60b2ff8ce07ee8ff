import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens

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

    /// A value of `application_type` (OpenID Connect Registration §2).
    enum ApplicationType: String, Sendable {
        case native, web
    }

    /// `redirect_uris`.
    let redirectURIs: [String]
    /// `token_endpoint_auth_method`; nil if it is not named.
    let authenticationMethod: String?
    /// `token_endpoint_auth_methods_supported` of a document (OpenID Connect Relying Party Metadata Choices §2); nil if
    /// it is not named.
    let supportedAuthenticationMethods: [String]?
    /// `grant_types`; nil if it is not named.
    let grantTypes: [String]?
    /// `response_types`; nil if it is not named.
    let responseTypes: [String]?
    /// `application_type`; nil if it is not named.
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
    ///
    /// - Parameter isDocument: Whether a document contains them. It is written for many servers, so a value of
    ///   `application_type` or `scope` that means nothing here is ignored.
    init(_ members: [String: JSONValue], isDocument: Bool = false) throws(Refusal) {
        redirectURIs = try members.strings("redirect_uris") ?? []
        authenticationMethod = try members.string("token_endpoint_auth_method")
        supportedAuthenticationMethods =
            isDocument ? try members.strings("token_endpoint_auth_methods_supported") : nil
        grantTypes = try members.strings("grant_types")
        responseTypes = try members.strings("response_types")
        let type = try members.string("application_type")
        applicationType = type.flatMap(ApplicationType.init(rawValue:))
        guard isDocument || type == nil || applicationType != nil else {
            throw Refusal("application_type must be native or web")
        }
        name = try members.string("client_name")
        clientURI = try members.string("client_uri")
        logoURI = try members.string("logo_uri")
        policyURI = try members.string("policy_uri")
        termsURI = try members.string("tos_uri")
        let scopes = try members.string("scope")
        scope = scopes.flatMap { try? Scope(parsing: $0) }
        guard isDocument || scopes == nil || scope != nil else { throw Refusal("scope is not a list of scopes") }
        keys = members["jwks"].flatMap { $0 == .null ? nil : $0 }
        keysURI = try members.string("jwks_uri")
        // RFC 7591 §2: the members must not both be present.
        guard keys == nil || keysURI == nil else { throw Refusal("jwks and jwks_uri must not both be present") }
        postLogoutRedirectURIs = try members.strings("post_logout_redirect_uris") ?? []
        backchannelLogoutURI = try members.string("backchannel_logout_uri")
        requiresPushedRequests = try members.boolean("require_pushed_authorization_requests")
        requiresBoundTokens = try members.boolean("dpop_bound_access_tokens")
        idTokenAlgorithm = try members.string("id_token_signed_response_alg")
        subjectType = try members.string("subject_type")
        sectorIdentifierURI = try members.string("sector_identifier_uri")
        secretMembers = members.filter { $0.key.hasPrefix("client_secret") && $0.value != .null }.keys.sorted()
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
    func string(_ name: String) throws(ClientMetadata.Refusal) -> String? {
        switch self[name] {
        case nil, .null?, .string("")?: return nil
        case .string(let text)?: return try ClientMetadata.checked(text, name)
        default: throw ClientMetadata.Refusal("\(name) must be a string")
        }
    }

    /// Returns a member that is an array of strings; nil if it is absent or null.
    func strings(_ name: String) throws(ClientMetadata.Refusal) -> [String]? {
        switch self[name] {
        case nil, .null?: return nil
        case .array(let values)?: return try ClientMetadata.checked(values, name)
        default: throw ClientMetadata.Refusal("\(name) must be an array of strings")
        }
    }

    /// Returns a member that is a boolean; false if it is absent or null.
    func boolean(_ name: String) throws(ClientMetadata.Refusal) -> Bool {
        switch self[name] {
        case nil, .null?: return false
        case .boolean(let flag)?: return flag
        default: throw ClientMetadata.Refusal("\(name) must be true or false")
        }
    }
}
