public import CounterfoilPlatform
public import CounterfoilProtocol

/// A dynamic registration of the client, which is valid only at the server that issued it.
///
/// RFC 7591 §3.2.1. A ``ClientRegistrationStore`` holds one registration for each issuer.
public struct ClientRegistration: Sendable, Hashable {
    /// The issuer of the server at which the client registered; the identifier is not valid at another server.
    public let issuer: Issuer
    /// `client_id`: the identifier that the server issued to the client.
    public let clientID: ClientIdentifier
    /// The client authentication at this server, with `client_secret` if one was issued.
    public let authentication: ClientAuthentication
    /// `client_secret_expires_at`; nil if there is no secret, or if the secret does not expire.
    public let secretExpires: Date?
    /// `redirect_uris` of the registration request; the server must register exactly these.
    public let redirectURIs: [String]
    /// `grant_types` of the registration request, even if the server registered other grant types.
    public let grantTypes: [String]
    /// `scope`, as requested; empty if the client requested no scope.
    public let scope: Scope
    /// The time of the registration, by this device's clock.
    public let since: Date
    /// `client_name`, as requested.
    public let name: String
    /// The URL and the access token with which the client deletes its registration (RFC 7592); nil if the server sent
    /// none.
    var management: Management?

    /// `registration_client_uri` and `registration_access_token` (RFC 7592 §3).
    struct Management: Sendable, Hashable, Codable, CustomStringConvertible, CustomReflectable {
        let url: String
        @StoredToken private(set) var accessToken: AccessToken

        init?(url: String, accessToken: String) {
            guard let token = AccessToken(accessToken) else { return nil }
            self.url = url
            self.accessToken = token
        }

        private enum CodingKeys: String, CodingKey {
            case url = "registration_client_uri"
            case accessToken = "registration_access_token"
        }

        /// The URL, without the access token.
        var description: String { "<Management \(url)>" }
        /// An empty mirror, so that `dump` does not show the access token.
        var customMirror: Mirror { Mirror(self, children: []) }
    }

    /// The remaining lifetime, in seconds, below which a secret is no longer used.
    ///
    /// A secret with less time left could expire during the sign-in.
    private static let expirationMargin: TimeInterval = 600

    /// Returns true if the registration covers a request and its secret, if any, does not expire during a sign-in.
    ///
    /// The registration must have the key and the name of the request and include its redirect URIs, grant types and
    /// scope.
    func fits(_ request: ClientRegistrationRequest, at now: Date) -> Bool {
        guard secretExpires.map({ $0.addingTimeInterval(-Self.expirationMargin) > now }) ?? true else { return false }
        guard authentication.key == request.key, name == request.metadata.name else { return false }
        return Set(redirectURIs).isSuperset(of: request.redirectURIs)
            && Set(grantTypes).isSuperset(of: request.grantTypes)
            && request.scope.isSubset(of: scope)
    }

    /// The reason why the response to a registration is not accepted.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The response is not the JSON of RFC 7591 §3.2.1.
        case unreadable
        /// The status is an error, but the body is not the JSON of RFC 7591 §3.2.2; the value is the status.
        case unreadableRefusal(Int)
        /// `client_id` is missing or invalid.
        case noClientID
        /// `client_secret` is invalid.
        case badSecret
        /// The server assigned a client authentication method that was not requested and that the client cannot use.
        case otherAuthentication
        /// The server registered redirect URIs that differ from the requested ones.
        ///
        /// Another program could receive the authorization response at such a URI.
        case otherRedirectURIs

        /// A description that is safe to show to users.
        public var description: String {
            switch self {
            case .unreadable: "the registration response is not valid OAuth JSON"
            case .unreadableRefusal(let status):
                "the server refused the registration (status \(status)) without an OAuth error"
            case .noClientID: "the registration response contains no valid client ID"
            case .badSecret: "the registration response contains an invalid secret"
            case .otherAuthentication:
                "the server registered a client authentication method other than the requested one"
            case .otherRedirectURIs: "the server registered redirect URIs other than the requested ones"
            }
        }
    }
}

/// The encoding for a store; the store must be private, because the encoding contains any client secret in clear text.
extension ClientRegistration: Codable {
    private enum CodingKeys: String, CodingKey {
        case issuer, authentication, scope, since, management
        case clientID = "client_id"
        case secretExpires = "client_secret_expires_at"
        case redirectURIs = "redirect_uris"
        case grantTypes = "grant_types"
        case name = "client_name"
    }

    /// Decodes a registration from a store; nil if it is malformed.
    ///
    /// A malformed registration is not an error, because the client can register again.
    init?(stored bytes: Data) {
        guard let registration = try? JSONDecoder().decode(ClientRegistration.self, from: bytes) else { return nil }
        self = registration
    }

    /// Encodes the registration for a store; a thrown error names `location` as the location of the store.
    func stored(at location: String) throws(TokenStoreError) -> Data {
        guard let bytes = try? JSONEncoder().encode(self) else {
            throw .failed(path: location, reason: "the registration cannot be encoded")
        }
        return bytes
    }
}
