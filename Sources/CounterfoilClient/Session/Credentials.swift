public import CounterfoilProtocol
import CounterfoilTokens
public import Foundation

/// What a sign-in gave: an access token, for whom and until when.
///
/// A refresh token is not in here, even if the server sent one: this version does not refresh, and a client that does not
/// use refresh tokens does not store them.
public struct Credentials: Sendable, Hashable {
    /// The server that issued them.
    public let issuer: Issuer
    /// The client that they were issued to.
    public let clientID: ClientIdentifier
    /// What was allowed, which may be less than what was asked.
    public let scope: Scope
    /// The token for the API.
    public let accessToken: AccessToken
    /// From when on the token is not accepted, by this device's clock; nil when the server did not say.
    public let expires: Date?
    /// Who signed in; nil when `openid` was not asked for.
    public let person: Person?

    /// Who signed in, from the verified ID token.
    public struct Person: Sendable, Hashable, Codable {
        /// `sub`: the only claim that identifies a person, within the issuer.
        public let subject: String
        /// `name`; nil when the ID token does not say.
        public let name: String?
        /// `email`; nil when the ID token does not say.
        public let email: String?

        init(_ token: VerifiedIDToken) {
            subject = token.subject
            name = token.text(of: "name")
            email = token.text(of: "email")
        }
    }

    init(
        issuer: Issuer,
        clientID: ClientIdentifier,
        scope: Scope,
        accessToken: AccessToken,
        expires: Date?,
        person: Person?
    ) {
        self.issuer = issuer
        self.clientID = clientID
        self.scope = scope
        self.accessToken = accessToken
        self.expires = expires
        self.person = person
    }

    /// Whether the token has expired, or will within ten seconds, too soon to use it.
    public func isExpired(at now: Date = Date()) -> Bool {
        expires.map { $0 <= now.addingTimeInterval(10) } ?? false
    }
}

/// The form in which a token store keeps credentials; it holds the token in clear and is written only through encryption.
extension Credentials: Codable {
    private enum CodingKeys: String, CodingKey {
        case issuer
        case clientID = "client_id"
        case scope
        case accessToken = "access_token"
        case expires
        case person
    }

    /// Reads the form of a token store.
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
            person: try values.decodeIfPresent(Person.self, forKey: .person))
    }

    /// Writes the form of a token store.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(issuer, forKey: .issuer)
        try values.encode(clientID, forKey: .clientID)
        try values.encode(scope, forKey: .scope)
        try values.encode(accessToken.exposed, forKey: .accessToken)
        try values.encodeIfPresent(expires, forKey: .expires)
        try values.encodeIfPresent(person, forKey: .person)
    }
}
