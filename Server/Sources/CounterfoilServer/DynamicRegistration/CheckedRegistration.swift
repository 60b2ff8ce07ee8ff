import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens

/// A registration that has passed all rules except that of its sector (``SectorIdentifier``).
struct CheckedRegistration: Sendable {
    /// The client, without the digest of its `registration_access_token`.
    var client: RegisteredClient
    /// `token_endpoint_auth_method`.
    let authenticationMethod: String
    /// The registered metadata, with the values that the server chose.
    let members: [String: JSONValue]
    /// `sector_identifier_uri`.
    let sectorIdentifierURI: AbsoluteURI?

    /// Whether the client authenticates with a secret that the server creates.
    var usesSecret: Bool { DynamicRegistration.symmetricMethods.contains(authenticationMethod) }
}

extension UnregisteredClientRules {
    /// Returns the members with which the server registers a client: those of the request that it supports, and the
    /// defaults (RFC 7591 §3.2.1).
    ///
    /// A link that is no https URL is left out, because pages would not show it.
    ///
    /// `scope` contains the requested scopes that the client can get. It is no limit: a client can request further
    /// scopes later, as long as the policy allows them.
    func members(
        of client: RegisteredClient, _ request: RegistrationRequest, grants: RegisteredGrants,
        authenticationMethod: String
    ) -> [String: JSONValue] {
        let metadata = request.metadata
        func list(_ texts: [String]) -> JSONValue { .array(texts.map(JSONValue.string)) }
        var members: [String: JSONValue] = [
            "token_endpoint_auth_method": .string(authenticationMethod),
            "grant_types": list(grants.grantTypes),
            "response_types": list(grants.responseTypes),
            "application_type": .string(client.type == .native || client.type == .device ? "native" : "web"),
            "id_token_signed_response_alg": .string(client.policy.idTokenAlgorithm.rawValue),
            "subject_type": .string(client.policy.subjectType.rawValue),
            "require_pushed_authorization_requests": .boolean(client.policy.requiresPushedRequests),
            "dpop_bound_access_tokens": .boolean(client.policy.requiresBoundTokens),
        ]
        if client.type.hasRedirectURIs { members["redirect_uris"] = list(client.redirectURIs.map(\.rawValue)) }
        if !client.postLogoutRedirectURIs.isEmpty {
            members["post_logout_redirect_uris"] = list(client.postLogoutRedirectURIs.map(\.rawValue))
        }
        if let contacts = request.contacts { members["contacts"] = list(contacts) }
        if let keys = metadata.keys { members["jwks"] = keys }
        if let scope = metadata.scope?.intersection(scope), !scope.isEmpty {
            members["scope"] = .string(scope.description)
        }
        let texts: [(String, String?)] = [
            ("backchannel_logout_uri", client.backchannelLogoutURI?.rawValue), ("client_name", metadata.name),
            ("client_uri", Self.link(metadata.clientURI)), ("initiate_login_uri", request.initiateLoginURI?.rawValue),
            ("jwks_uri", metadata.keysURI), ("logo_uri", Self.link(metadata.logoURI)),
            ("policy_uri", Self.link(metadata.policyURI)),
            ("sector_identifier_uri", metadata.sectorIdentifierURI), ("software_id", request.softwareID),
            ("software_version", request.softwareVersion), ("tos_uri", Self.link(metadata.termsURI)),
        ]
        for (name, text) in texts { members[name] = text.map(JSONValue.string) }
        return members
    }

    private static func link(_ text: String?) -> String? { text.flatMap { AbsoluteURI(ofPage: $0) == nil ? nil : $0 } }
}
