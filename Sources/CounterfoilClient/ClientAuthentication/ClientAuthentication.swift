import CounterfoilPlatform
@_spi(Counterfoil) public import CounterfoilProtocol
package import HTTPTypes

/// The method by which a client authenticates at the token endpoint.
///
/// RFC 6749 §2.3. A native app is a public client and uses ``none``. Some vendors nevertheless issue a client
/// secret for a native app, and their servers require it. Such a secret is not confidential, so it does not
/// authenticate the app (RFC 8252 §8.5).
public enum ClientAuthentication: Sendable, Hashable {
    /// `none`: the client sends only its identifier.
    case none
    /// A secret, sent by the method that the metadata of the server list.
    ///
    /// The client uses `client_secret_basic` if the server lists it or lists no method, and otherwise
    /// `client_secret_post`. If the server lists both and rejects the first, the client tries `client_secret_post`
    /// once. The credentials contain the method that the server accepted.
    case secret(ClientSecret)
    /// `client_secret_post`: the secret in the form body.
    case secretPost(ClientSecret)
    /// `client_secret_basic`: the secret in the `Authorization` header field.
    case secretBasic(ClientSecret)
    /// `private_key_jwt`: a signed assertion, a new one for each request (RFC 7523 §2.2).
    case privateKey(ClientKey)

    /// The client secret; nil for a method without one.
    var secret: ClientSecret? {
        switch self {
        case .secret(let secret), .secretPost(let secret), .secretBasic(let secret): secret
        case .none, .privateKey: nil
        }
    }

    /// The private key of `private_key_jwt`; nil for the other methods.
    var key: ClientKey? {
        if case .privateKey(let key) = self { key } else { nil }
    }

    /// Returns the methods to try at a server, in order; never empty.
    package func candidates(at server: AuthorizationServerConfiguration) -> [ClientAuthentication] {
        guard case .secret(let secret) = self else { return [self] }
        // RFC 8414 §2: without the member, the server supports `client_secret_basic`.
        let methods = server.authenticationMethods ?? ["client_secret_basic"]
        switch (methods.contains("client_secret_basic"), methods.contains("client_secret_post")) {
        case (true, true): return [.secretBasic(secret), .secretPost(secret)]
        case (false, true): return [.secretPost(secret)]
        case (_, false): return [.secretBasic(secret)]
        }
    }

    /// Adds the client identifier and the client authentication to a form request to an authorization server.
    ///
    /// An empty secret is never sent (RFC 6749 §2.3.1), because a `ClientSecret` cannot be empty.
    ///
    /// Call this function again for each request and each retry. A client assertion is valid for one request only,
    /// because the server accepts its `jti` once. No other server accepts it, because its audience is this server.
    package func apply(
        to form: inout FormParameters, headerFields: inout HTTPFields, clientID: ClientIdentifier,
        at server: AuthorizationServerConfiguration
    ) async throws(TransportFailure) {
        switch self {
        case .none:
            form.append("client_id", clientID.rawValue)
        case .secretPost(let secret):
            form.append("client_id", clientID.rawValue)
            form.append("client_secret", secret.exposed)
        case .secret(let secret), .secretBasic(let secret):
            // RFC 6749 §2.3.1: the client identifier and the secret are form-encoded before they are joined.
            let pair = FormParameters.encoded(clientID.rawValue) + ":" + FormParameters.encoded(secret.exposed)
            headerFields[.authorization] = "Basic " + Data(pair.utf8).base64EncodedString()
        case .privateKey(let key):
            form.append("client_id", clientID.rawValue)
            form.append("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
            form.append(
                "client_assertion",
                try await key.assertion(of: clientID, at: server, now: ServerClock.now(of: server.issuer)))
        }
    }
}

/// The encoding for a token store.
extension ClientAuthentication: Codable {
    private enum Method: String, Codable {
        case none
        case secret = "client_secret"
        case secretPost = "client_secret_post"
        case secretBasic = "client_secret_basic"
        case privateKey = "private_key_jwt"
    }

    private enum CodingKeys: String, CodingKey {
        case method = "token_endpoint_auth_method"
        case secret = "client_secret"
        case key = "client_key"
    }

    /// Decodes a value that ``encode(to:)`` has encoded for a token store.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func secret() throws -> ClientSecret {
            guard let secret = ClientSecret(try values.decode(String.self, forKey: .secret)) else {
                throw DecodingError.dataCorruptedError(forKey: .secret, in: values, debugDescription: "malformed")
            }
            return secret
        }
        switch try values.decode(Method.self, forKey: .method) {
        case .none: self = .none
        case .secret: self = .secret(try secret())
        case .secretPost: self = .secretPost(try secret())
        case .secretBasic: self = .secretBasic(try secret())
        case .privateKey: self = .privateKey(try values.decode(ClientKey.self, forKey: .key))
        }
    }

    /// Encodes the method and its secret or private key for a token store.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        let method: Method =
            switch self {
            case .none: .none
            case .secret: .secret
            case .secretPost: .secretPost
            case .secretBasic: .secretBasic
            case .privateKey: .privateKey
            }
        try values.encode(method, forKey: .method)
        try values.encodeIfPresent(secret?.exposed, forKey: .secret)
        try values.encodeIfPresent(key, forKey: .key)
    }
}
