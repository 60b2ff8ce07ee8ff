import CounterfoilPlatform
import CounterfoilProtocol
import CounterfoilTokens

/// The encoding for a token store.
///
/// It contains tokens in plain text, so the token stores write it only to encrypted storage.
extension Credentials: Codable {
    private enum CodingKeys: String, CodingKey {
        case issuer, scope, expires, resources, details, authentication, server, endpoints, target, narrowed
        case received
        case clientID = "client_id"
        case accessToken = "access_token"
        case user = "person"
        case refreshToken = "refresh_token"
        case idToken = "id_token"
        case apiOrigins = "api_origins"
        case detailNames = "detail_names"
        case tokenParameters = "token_parameters"
        case isOfService = "service"
        case proofKey = "proof_key"
        case isSelfRegistered = "self_registered"
        case signInID = "sign_in"
        case foreignOrigins = "foreign_origins"
        case refusedParts = "refused_parts"
        case clockOffset = "clock_offset"
        case refreshOmitsIDToken = "refresh_omits_id_token"
    }

    /// Decodes the credentials from a token store.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        guard let token = AccessToken(try values.decode(String.self, forKey: .accessToken)) else {
            throw DecodingError.dataCorruptedError(forKey: .accessToken, in: values, debugDescription: "malformed")
        }
        self.init(
            issuer: try values.decode(Issuer.self, forKey: .issuer),
            clientID: try values.decode(ClientIdentifier.self, forKey: .clientID),
            scope: try values.decode(Scope.self, forKey: .scope),
            accessToken: token,
            expires: try values.decodeIfPresent(Date.self, forKey: .expires),
            user: try values.decodeIfPresent(User.self, forKey: .user),
            refreshToken: try values.decodeIfPresent(String.self, forKey: .refreshToken).flatMap(RefreshToken.init),
            idToken: try values.decodeIfPresent(String.self, forKey: .idToken).flatMap(IDToken.init),
            resources: try (values.decodeIfPresent([String].self, forKey: .resources) ?? []).map(Resource.init),
            details: try values.decodeIfPresent([String: String].self, forKey: .details) ?? [:],
            authentication: try values.decodeIfPresent(ClientAuthentication.self, forKey: .authentication) ?? .none,
            proofKey: try values.decodeIfPresent(ProofKey.self, forKey: .proofKey),
            server: try values.decodeIfPresent(VendorServer.self, forKey: .server))
        detailNames = Set(try values.decodeIfPresent([String].self, forKey: .detailNames) ?? [])
        tokenParameters = try values.decodeIfPresent([String: String].self, forKey: .tokenParameters) ?? [:]
        isOfService = try values.decodeIfPresent(Bool.self, forKey: .isOfService) ?? false
        apiOrigins = Set(try values.decodeIfPresent([APIOrigin].self, forKey: .apiOrigins) ?? [])
        isSelfRegistered = try values.decodeIfPresent(Bool.self, forKey: .isSelfRegistered) ?? false
        // Without them, a refresh fetches the metadata.
        endpoints = try? values.decodeIfPresent(ServerEndpoints.self, forKey: .endpoints)
        signInID = try values.decodeIfPresent(String.self, forKey: .signInID)
        target = try values.decodeIfPresent(AccessTarget.self, forKey: .target)
        foreignOrigins = Set(try values.decodeIfPresent([APIOrigin].self, forKey: .foreignOrigins) ?? [])
        // Without them, a refresh requests them again.
        narrowed = (try? values.decodeIfPresent([NarrowedToken].self, forKey: .narrowed)) ?? []
        refusedParts = (try? values.decodeIfPresent(Set<AccessTarget>.self, forKey: .refusedParts)) ?? []
        received = try values.decodeIfPresent(Date.self, forKey: .received)
        clockOffset = try values.decodeIfPresent(TimeInterval.self, forKey: .clockOffset) ?? 0
        refreshOmitsIDToken = try values.decodeIfPresent(Bool.self, forKey: .refreshOmitsIDToken) ?? false
    }

    /// Encodes the credentials for a token store.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(issuer, forKey: .issuer)
        try values.encode(clientID, forKey: .clientID)
        try values.encode(scope, forKey: .scope)
        try values.encode(accessToken.exposed, forKey: .accessToken)
        try values.encodeIfPresent(expires, forKey: .expires)
        try values.encodeIfPresent(user, forKey: .user)
        try values.encodeIfPresent(refreshToken?.exposed, forKey: .refreshToken)
        try values.encodeIfPresent(idToken?.exposed, forKey: .idToken)
        if !resources.isEmpty { try values.encode(resources.map(\.rawValue), forKey: .resources) }
        if !apiOrigins.isEmpty { try values.encode(apiOrigins.map(\.rawValue).sorted(), forKey: .apiOrigins) }
        if !details.isEmpty { try values.encode(details, forKey: .details) }
        if !detailNames.isEmpty { try values.encode(detailNames.sorted(), forKey: .detailNames) }
        if !tokenParameters.isEmpty { try values.encode(tokenParameters, forKey: .tokenParameters) }
        if authentication != .none { try values.encode(authentication, forKey: .authentication) }
        if isOfService { try values.encode(true, forKey: .isOfService) }
        try values.encodeIfPresent(server, forKey: .server)
        try values.encodeIfPresent(proofKey, forKey: .proofKey)
        if isSelfRegistered { try values.encode(true, forKey: .isSelfRegistered) }
        try values.encodeIfPresent(endpoints, forKey: .endpoints)
        try values.encodeIfPresent(signInID, forKey: .signInID)
        try values.encodeIfPresent(target, forKey: .target)
        if !foreignOrigins.isEmpty {
            try values.encode(foreignOrigins.map(\.rawValue).sorted(), forKey: .foreignOrigins)
        }
        if !narrowed.isEmpty { try values.encode(narrowed, forKey: .narrowed) }
        if !refusedParts.isEmpty { try values.encode(refusedParts, forKey: .refusedParts) }
        try values.encodeIfPresent(received, forKey: .received)
        if clockOffset != 0 { try values.encode(clockOffset, forKey: .clockOffset) }
        if refreshOmitsIDToken { try values.encode(true, forKey: .refreshOmitsIDToken) }
    }
}
