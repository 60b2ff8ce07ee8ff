public import CounterfoilProtocol
import Foundation
import HTTPTypes

/// The method by which a client authenticates at the token endpoint.
///
/// RFC 6749 §2.3. A native app is a public client and uses ``none``. Some vendors nevertheless issue a client
/// secret for a native app, and their servers require it. Such a secret is not confidential, so it does not
/// authenticate the app (RFC 8252 §8.5).
public enum ClientAuthentication: Sendable, Hashable {
    /// `none`: the client sends only its identifier.
    case none
    /// `client_secret_post`: the secret in the form body.
    case secretPost(ClientSecret)
    /// `client_secret_basic`: the secret in the `Authorization` header field.
    case secretBasic(ClientSecret)
    /// `private_key_jwt`: a signed assertion, a new one for each request (RFC 7523 §2.2).
    case privateKey(ClientKey)

    /// The private key of `private_key_jwt`; nil for the other methods.
    var key: ClientKey? {
        if case .privateKey(let key) = self { key } else { nil }
    }

    /// Adds the client identifier and the client authentication to a form request to an authorization server.
    ///
    /// An empty secret is never sent (RFC 6749 §2.3.1), because a `ClientSecret` cannot be empty.
    ///
    /// Call this function again for each request and each retry. A client assertion is valid for one request only,
    /// because the server accepts its `jti` once. No other server accepts it, because its audience is this server.
    func apply(
        to form: inout FormParameters, headerFields: inout HTTPFields, clientID: ClientIdentifier, at issuer: Issuer
    ) {
        switch self {
        case .none:
            form.append("client_id", clientID.rawValue)
        case .secretPost(let secret):
            form.append("client_id", clientID.rawValue)
            form.append("client_secret", secret.exposed)
        case .secretBasic(let secret):
            // RFC 6749 §2.3.1: the client identifier and the secret are form-encoded before they are joined.
            let pair = FormParameters.encoded(clientID.rawValue) + ":" + FormParameters.encoded(secret.exposed)
            headerFields[.authorization] = "Basic " + Data(pair.utf8).base64EncodedString()
        case .privateKey(let key):
            form.append("client_id", clientID.rawValue)
            form.append("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
            // Signing with a P-256 or Ed25519 key does not fail. If it did, the request would contain no assertion,
            // and the server would reject it.
            form.append("client_assertion", ifPresent: try? key.assertion(of: clientID, for: issuer, at: Date()))
        }
    }
}

/// The encoding for a token store.
extension ClientAuthentication: Codable {
    private enum Method: String, Codable {
        case none
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
        case .secretPost: self = .secretPost(try secret())
        case .secretBasic: self = .secretBasic(try secret())
        case .privateKey: self = .privateKey(try values.decode(ClientKey.self, forKey: .key))
        }
    }

    /// Encodes the method and its secret or private key for a token store.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .none: try values.encode(Method.none, forKey: .method)
        case .secretPost(let secret):
            try values.encode(Method.secretPost, forKey: .method)
            try values.encode(secret.exposed, forKey: .secret)
        case .secretBasic(let secret):
            try values.encode(Method.secretBasic, forKey: .method)
            try values.encode(secret.exposed, forKey: .secret)
        case .privateKey(let key):
            try values.encode(Method.privateKey, forKey: .method)
            try values.encode(key, forKey: .key)
        }
    }
}
