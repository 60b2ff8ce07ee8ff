/// The encoding for a token store: the host, and the name of a built-in profile or a whole custom profile.
///
/// A built-in profile is that of the program that reads it. A correction of a profile therefore reaches users who are
/// already signed in, and a new member of a profile makes no stored sign-in unreadable.
extension VendorServer: Codable {
    enum CodingKeys: String, CodingKey {
        case name
        case customProfile = "custom_profile"
        case host
    }

    /// Decodes a server that ``encode(to:)`` has encoded, and validates it again.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let profile: ServerProfile
        if let name = try values.decodeIfPresent(String.self, forKey: .name) {
            guard let known = ServerProfile.named(name) else {
                throw DecodingError.dataCorruptedError(forKey: .name, in: values, debugDescription: "unknown profile")
            }
            profile = known
        } else {
            profile = try values.decode(ServerProfile.self, forKey: .customProfile)
        }
        try self.init(profile, at: try values.decode(String.self, forKey: .host))
    }

    /// Encodes the server for a token store.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        if ServerProfile.named(profile.name) == profile {
            try values.encode(profile.name, forKey: .name)
        } else {
            try values.encode(profile, forKey: .customProfile)
        }
        try values.encode(host, forKey: .host)
    }
}

extension KeyedDecodingContainer {
    /// Decodes a member into a variable, which keeps its value if the member is missing.
    fileprivate func decode<Value: Decodable>(_ key: Key, into value: inout Value) throws {
        if let found = try decodeIfPresent(Value.self, forKey: key) { value = found }
    }
}

extension ServerProfile {
    enum CodingKeys: String, CodingKey {
        case name, title, location, defaultHost, hosts, redirect, authentication, defaultScope, assumesPKCE, behavior
        case advice
    }

    /// Decodes a profile; missing members have their defaults, except the name, the title, the location and the
    /// redirect rules.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            name: try values.decode(String.self, forKey: .name), title: try values.decode(String.self, forKey: .title),
            location: try values.decode(Location.self, forKey: .location),
            redirect: try values.decode(Redirect.self, forKey: .redirect))
        defaultHost = try values.decodeIfPresent(String.self, forKey: .defaultHost)
        try values.decode(.hosts, into: &hosts)
        try values.decode(.authentication, into: &authentication)
        try values.decode(.defaultScope, into: &defaultScope)
        try values.decode(.assumesPKCE, into: &assumesPKCE)
        try values.decode(.behavior, into: &behavior)
        try values.decode(.advice, into: &advice)
    }
}

extension ServerProfile.Redirect {
    enum CodingKeys: String, CodingKey {
        case loopback, ports, takesCustomScheme
    }

    /// Decodes the rules; missing members have their defaults.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(loopback: try values.decodeIfPresent(String.self, forKey: .loopback))
        try values.decode(.ports, into: &ports)
        try values.decode(.takesCustomScheme, into: &takesCustomScheme)
    }
}

extension ServerBehavior {
    enum CodingKeys: String, CodingKey {
        case scopeSeparator, scopeParameter, authorizationParameters, parametersForRefreshToken, tokenParameters
        case requiresConsentForOfflineAccess, assertionAudience, sendsSecretOnRefresh
        case tokenResponse, errors, callbackServer, authorizationScheme, revokesAllTokensTogether, earlyRefresh
    }

    /// Decodes a behavior; missing members are those of ``standard``.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init()
        try values.decode(.scopeSeparator, into: &scopeSeparator)
        try values.decode(.scopeParameter, into: &scopeParameter)
        try values.decode(.authorizationParameters, into: &authorizationParameters)
        try values.decode(.parametersForRefreshToken, into: &parametersForRefreshToken)
        try values.decode(.tokenParameters, into: &tokenParameters)
        try values.decode(.requiresConsentForOfflineAccess, into: &requiresConsentForOfflineAccess)
        try values.decode(.assertionAudience, into: &assertionAudience)
        try values.decode(.sendsSecretOnRefresh, into: &sendsSecretOnRefresh)
        try values.decode(.tokenResponse, into: &tokenResponse)
        try values.decode(.errors, into: &errors)
        callbackServer = try values.decodeIfPresent(CallbackServer.self, forKey: .callbackServer)
        try values.decode(.authorizationScheme, into: &authorizationScheme)
        try values.decode(.revokesAllTokensTogether, into: &revokesAllTokensTogether)
        try values.decode(.earlyRefresh, into: &earlyRefresh)
    }
}

extension ServerBehavior.TokenResponseShape {
    enum CodingKeys: String, CodingKey {
        case path, successMember, secondsMember, expiresInMilliseconds, scopeSeparator, extraTokenTypes, details
    }

    /// Decodes a format; missing members are those of RFC 6749 §5.1.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init()
        try values.decode(.path, into: &path)
        successMember = try values.decodeIfPresent(String.self, forKey: .successMember)
        secondsMember = try values.decodeIfPresent(String.self, forKey: .secondsMember)
        try values.decode(.expiresInMilliseconds, into: &expiresInMilliseconds)
        try values.decode(.scopeSeparator, into: &scopeSeparator)
        try values.decode(.extraTokenTypes, into: &extraTokenTypes)
        try values.decode(.details, into: &details)
    }
}

extension ServerBehavior.ErrorShape {
    enum CodingKeys: String, CodingKey {
        case meanings, meaningsOfRefresh, transient, pause, otherServer
    }

    /// Decodes the meaning of error codes; missing members have their defaults.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init()
        try values.decode(.meanings, into: &meanings)
        try values.decode(.meaningsOfRefresh, into: &meaningsOfRefresh)
        try values.decode(.transient, into: &transient)
        try values.decode(.pause, into: &pause)
        otherServer = try values.decodeIfPresent(ServerBehavior.OtherServer.self, forKey: .otherServer)
    }
}
