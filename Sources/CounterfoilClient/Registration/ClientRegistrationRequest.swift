import CounterfoilPlatform
@_spi(Counterfoil) import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens

/// The metadata that a client requests in its registration.
struct ClientRegistrationRequest: Sendable, Hashable {
    /// The members that the program chooses, such as `client_name`.
    var metadata: ClientIdentification.SelfRegistration.Metadata
    /// `redirect_uris`; a loopback URI contains a port only if the server requires one (RFC 8252 §7.3).
    var redirectURIs: [String]
    /// `grant_types`: the grants that the client uses, such as `authorization_code` and `refresh_token`.
    var grantTypes: [String]
    /// `scope`; an empty scope requests the server's default.
    var scope: Scope
    /// The private key whose public key is registered in `jwks`; nil for a client without a key.
    var key: ClientKey?

    /// The maximum number of redirect URIs in one registration.
    private static let redirectURILimit = 16

    /// Returns this request with the redirect URIs, grant types and scope of a former registration added.
    ///
    /// A client may alternate between browser and device sign-in, which need different grant types. The new
    /// registration then covers both, so the client does not register again for each sign-in.
    func including(_ former: ClientRegistration?) -> ClientRegistrationRequest {
        guard let former else { return self }
        var request = self
        let others = former.redirectURIs.filter { !redirectURIs.contains($0) }
        request.redirectURIs += others.prefix(max(0, Self.redirectURILimit - redirectURIs.count))
        request.grantTypes += former.grantTypes.filter { !grantTypes.contains($0) }
        request.scope = scope.union(former.scope)
        return request
    }

    /// The scopes to request one after the other, if the server refuses the ones before.
    ///
    /// Some servers refuse a registration whose scope contains `openid`, although clients may request it later. Others
    /// refuse every scope that they do not know. The last request has no scope, which means the server's default.
    private var scopes: [Scope] {
        let plain = Scope(scope.tokens.filter { $0 != .openID })
        var scopes = [scope]
        for other in [plain, Scope()] where !scopes.contains(other) { scopes.append(other) }
        return scopes
    }

    /// The request body for a native app, which may have a private key but no secret (RFC 7591 §2, RFC 8252 §8.5).
    private func json(with scope: Scope) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("client_name", metadata.name)
            for (name, value) in metadata.optionalMembers { writer.member(name, value) }
            writer.member("application_type", "native")
            writer.member("token_endpoint_auth_method", key == nil ? "none" : "private_key_jwt")
            if let key, let publicKey = key.publicKey {
                writer.member("token_endpoint_auth_signing_alg", key.algorithm.rawValue)
                writer.member("jwks", object: { writer in writer.member("keys", list: { $0.element(publicKey) }) })
            }
            writer.member("grant_types", texts: grantTypes)
            writer.member("response_types", texts: grantTypes.contains("authorization_code") ? ["code"] : [])
            if !redirectURIs.isEmpty { writer.member("redirect_uris", texts: redirectURIs) }
            if !scope.isEmpty { writer.member("scope", scope.description) }
        }
        return writer.bytes
    }

    /// Registers the client at a server (RFC 7591 §3); `initialAccessToken` is nil if the server requires none.
    func register(
        at endpoint: EndpointURL, of issuer: Issuer, with initialAccessToken: AccessToken?,
        through transport: any HTTPTransport, at now: Date
    ) async throws(SignInError) -> ClientRegistration {
        if let key, key.publicKey == nil {
            throw .unusable("the client key has no public key, so the client cannot register itself with it")
        }
        let body = try await response(at: endpoint, with: initialAccessToken, through: transport)
        do { return try registration(in: body, at: issuer, endpoint, now: now) } catch {
            throw .unsafe(.registration(error))
        }
    }

    /// The errors with which servers refuse the scope of a registration; RFC 7591 §3.2.2 has no code for it.
    private static let scopeRefusals: Set<OAuthError.Code> = [
        .invalidScope, .insufficientScope, OAuthError.Code(rawValue: "invalid_client_metadata"),
    ]

    /// Sends the request; if the server may have refused its scope, sends it again with a smaller one.
    private func response(
        at endpoint: EndpointURL, with initialAccessToken: AccessToken?, through transport: any HTTPTransport
    ) async throws(SignInError) -> [UInt8] {
        var first: SignInError?
        for scope in scopes {
            do throws(SignInError) {
                return try await EndpointRequest(json: json(with: scope), bearer: initialAccessToken?.exposed)
                    .send(to: endpoint, through: transport)
            } catch {
                switch error {
                case .refused(let refusal) where Self.scopeRefusals.contains(refusal.code): first = first ?? error
                case .unsafe(.tokenResponse(.unreadableRefusal(let status))):
                    throw first ?? .unsafe(.registration(.unreadableRefusal(status)))
                default: throw first ?? error
                }
            }
        }
        throw first ?? .unsafe(.registration(.unreadable))
    }

    /// Parses the client information response (RFC 7591 §3.2.1).
    private func registration(
        in body: [UInt8], at issuer: Issuer, _ endpoint: EndpointURL, now: Date
    ) throws(ClientRegistration.Refusal) -> ClientRegistration {
        guard let members = try? JSONReader.object(body, acceptingHugeNumbers: true) else { throw .unreadable }
        guard let clientID = members["client_id"]?.text.flatMap({ ClientIdentifier($0) }) else {
            throw .noClientID
        }
        let authentication = try authentication(in: members)
        try check(members["redirect_uris"])
        return ClientRegistration(
            issuer: issuer, clientID: clientID, authentication: authentication,
            secretExpires: Self.end(of: authentication, in: members), redirectURIs: redirectURIs,
            grantTypes: grantTypes, scope: scope, since: now, name: metadata.name,
            management: Self.management(in: members, of: endpoint))
    }

    /// Parses `registration_client_uri` and `registration_access_token` (RFC 7592 §3).
    ///
    /// Returns nil if one of them is missing, or if the URL is at another origin than the registration endpoint. The
    /// access token is never sent to another server.
    private static func management(
        in members: [String: JSONValue], of endpoint: EndpointURL
    ) -> ClientRegistration.Management? {
        guard case .string(let text) = members["registration_client_uri"], let url = try? EndpointURL(text),
            url.origin.lowercased() == endpoint.origin.lowercased(),
            case .string(let token) = members["registration_access_token"]
        else { return nil }
        return ClientRegistration.Management(url: text, accessToken: token)
    }

    /// Returns the client authentication that the server assigned.
    ///
    /// RFC 7591 §2: if the response omits `token_endpoint_auth_method`, a secret is used with `client_secret_basic`.
    private func authentication(
        in members: [String: JSONValue]
    ) throws(ClientRegistration.Refusal) -> ClientAuthentication {
        var secret: ClientSecret?
        switch members["client_secret"] {
        case nil, .null: break
        case .string(let text):
            guard let value = ClientSecret(text) else { throw .badSecret }
            secret = value
        default: throw .badSecret
        }
        if let key {
            guard members["token_endpoint_auth_method"] == .string("private_key_jwt") else {
                throw .otherAuthentication
            }
            return .privateKey(key)
        }
        switch (members["token_endpoint_auth_method"], secret) {
        case (.string("none"), _), (nil, nil): return .none
        case (.string("client_secret_post"), let secret?): return .secretPost(secret)
        case (.string("client_secret_basic"), let secret?), (nil, let secret?): return .secretBasic(secret)
        default: throw .otherAuthentication
        }
    }

    /// Parses `client_secret_expires_at`, in seconds since 1970.
    ///
    /// Returns nil if there is no secret, or if the value is 0 or missing, which means that the secret does not expire.
    /// An invalid value counts as missing: the server rejects an expired secret, and the client then registers again.
    private static func end(of authentication: ClientAuthentication, in members: [String: JSONValue]) -> Date? {
        switch authentication {
        case .none, .privateKey: return nil
        case .secret, .secretPost, .secretBasic: break
        }
        return members["client_secret_expires_at"]?.seconds(in: 1...253_402_300_799)
            .map { Date(timeIntervalSince1970: TimeInterval($0)) }
    }

    /// Checks that the server registered exactly the requested redirect URIs, byte for byte, in any order.
    private func check(_ value: JSONValue?) throws(ClientRegistration.Refusal) {
        guard !redirectURIs.isEmpty else { return }
        guard case .array(let list) = value else { throw .otherRedirectURIs }
        let registered = list.map { Array(($0.text ?? "").utf8) }
        guard Set(registered) == Set(redirectURIs.map { Array($0.utf8) }) else { throw .otherRedirectURIs }
    }
}

extension JSONWriter {
    fileprivate mutating func member(_ name: String, texts: [String]) {
        member(name, list: { writer in for text in texts { writer.element(text) } })
    }

    /// Writes a public key as an element of a list (RFC 7517 §4).
    fileprivate mutating func element(_ key: JSONWebKey) {
        object { writer in for member in key.members { writer.member(member.name, member.value) } }
    }
}
