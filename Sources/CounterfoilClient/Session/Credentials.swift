public import CounterfoilProtocol
import CounterfoilTokens
public import Foundation

/// What a sign-in gave: tokens, for whom and until when, and what is needed to refresh them.
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
    /// What gets new access tokens; nil when the server gave none, or the application wanted none.
    public let refreshToken: RefreshToken?
    /// The latest ID token, which names the person when they sign out; nil when `openid` was not asked for.
    public let idToken: IDToken?
    /// The APIs that were named; empty when none was.
    public let resources: [Resource]
    /// What the server said besides and the application keeps, by wire name, such as the address of the person's API.
    public let details: [String: String]
    /// How the client proves itself.
    public let authentication: ClientAuthentication
    /// The key that the tokens are bound to, which proves each request (RFC 9449); nil for Bearer tokens.
    public let proofKey: ProofKey?
    /// The vendor's server that they came from; nil for a server that is found by its issuer alone.
    public let server: VendorServer?

    /// Who signed in, from the verified ID token.
    public struct Person: Sendable, Hashable, Codable {
        /// `sub`: the only claim that identifies a person, within the issuer.
        public let subject: String
        /// `name`; nil when the ID token does not say.
        public let name: String?
        /// `email`; nil when the ID token does not say.
        public let email: String?
        /// `auth_time` of the sign-in; nil when its ID token does not say.
        public let authTime: Date?
        /// `nonce` of the sign-in; nil without a request in a browser.
        let nonce: Nonce?

        init(_ token: VerifiedIDToken) { self.init(token, authTime: token.authTime, nonce: token.nonce) }

        private init(_ token: VerifiedIDToken, authTime: Date?, nonce: Nonce?) {
            subject = token.subject
            name = token.text(of: "name")
            email = token.text(of: "email")
            self.authTime = authTime
            self.nonce = nonce
        }
    }

    init(
        issuer: Issuer,
        clientID: ClientIdentifier,
        scope: Scope,
        accessToken: AccessToken,
        expires: Date?,
        person: Person?,
        refreshToken: RefreshToken? = nil,
        idToken: IDToken? = nil,
        resources: [Resource] = [],
        details: [String: String] = [:],
        authentication: ClientAuthentication = .none,
        server: VendorServer? = nil,
        proofKey: ProofKey? = nil
    ) {
        self.issuer = issuer
        self.clientID = clientID
        self.scope = scope
        self.accessToken = accessToken
        self.expires = expires
        self.person = person
        self.refreshToken = refreshToken
        self.idToken = idToken
        self.resources = resources
        self.details = details
        self.authentication = authentication
        self.server = server
        self.proofKey = proofKey
    }

    /// Whether the token has expired, or will within so many seconds, too soon to use it.
    public func isExpired(at now: Date = Date(), early seconds: Int = 10) -> Bool {
        expires.map { $0 <= now.addingTimeInterval(TimeInterval(seconds)) } ?? false
    }

    /// The same sign-in with what a refresh gave.
    ///
    /// RFC 6749 §6: a new refresh token takes the place of the old one, and without a new one the old one stays.
    func refreshed(
        with tokens: TokenResponse, expires: Date?, person: Person?, details: [String: String]
    ) -> Credentials {
        Credentials(
            issuer: issuer, clientID: clientID, scope: tokens.scope ?? scope, accessToken: tokens.accessToken,
            expires: expires, person: person ?? self.person, refreshToken: tokens.refreshToken ?? refreshToken,
            // Without a person it was not verified.
            idToken: person.flatMap { _ in tokens.idToken } ?? idToken, resources: resources,
            details: self.details.merging(details) { $1 }, authentication: authentication, server: server,
            proofKey: proofKey)
    }
}

extension Credentials.Person {
    /// The claims that the ID token of a refresh must not contradict (OpenID Connect Core §12.2).
    var signIn: IDTokenVerifier.SignIn { IDTokenVerifier.SignIn(subject: subject, authTime: authTime, nonce: nonce) }

    /// The same sign-in with the name and email of a later ID token, which may leave out `auth_time` and `nonce`.
    func refreshed(with token: VerifiedIDToken) -> Self {
        Self(token, authTime: authTime ?? token.authTime, nonce: nonce)
    }

    private enum CodingKeys: String, CodingKey {
        case subject
        case name
        case email
        case authTime = "auth_time"
        case nonce
    }

    /// Reads the form of a token store.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        subject = try values.decode(String.self, forKey: .subject)
        name = try values.decodeIfPresent(String.self, forKey: .name)
        email = try values.decodeIfPresent(String.self, forKey: .email)
        authTime = try values.decodeIfPresent(Date.self, forKey: .authTime)
        nonce = try values.decodeIfPresent(String.self, forKey: .nonce).flatMap { Nonce($0) }
    }

    /// Writes the form of a token store.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(subject, forKey: .subject)
        try values.encodeIfPresent(name, forKey: .name)
        try values.encodeIfPresent(email, forKey: .email)
        try values.encodeIfPresent(authTime, forKey: .authTime)
        try values.encodeIfPresent(nonce?.exposed, forKey: .nonce)
    }
}

extension Credentials {
    /// Whether they were issued for the same person and the same client, as far as they tell.
    func hasSameHolder(as other: Credentials) -> Bool {
        issuer == other.issuer && clientID == other.clientID && person?.subject == other.person?.subject
    }

    /// These, with the refresh token of a former sign-in of the same holder where they have none of their own.
    ///
    /// Some servers give one with the first sign-in only. One that is bound to another key would be of no use.
    func keepingRefreshToken(of former: Credentials) -> Credentials {
        guard refreshToken == nil, proofKey == former.proofKey, hasSameHolder(as: former) else { return self }
        return Credentials(
            issuer: issuer, clientID: clientID, scope: scope, accessToken: accessToken, expires: expires,
            person: person, refreshToken: former.refreshToken, idToken: idToken, resources: resources,
            details: details, authentication: authentication, server: server, proofKey: proofKey)
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
        case refreshToken = "refresh_token"
        case idToken = "id_token"
        case resources
        case details
        case authentication
        case server
        case proofKey = "proof_key"
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
            person: try values.decodeIfPresent(Person.self, forKey: .person),
            refreshToken: try values.decodeIfPresent(String.self, forKey: .refreshToken).flatMap(RefreshToken.init),
            idToken: try values.decodeIfPresent(String.self, forKey: .idToken).flatMap(IDToken.init),
            resources: try (values.decodeIfPresent([String].self, forKey: .resources) ?? []).map(Resource.init),
            details: try values.decodeIfPresent([String: String].self, forKey: .details) ?? [:],
            authentication: try values.decodeIfPresent(ClientAuthentication.self, forKey: .authentication) ?? .none,
            server: try values.decodeIfPresent(VendorServer.self, forKey: .server),
            proofKey: try values.decodeIfPresent(ProofKey.self, forKey: .proofKey))
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
        try values.encodeIfPresent(refreshToken?.exposed, forKey: .refreshToken)
        try values.encodeIfPresent(idToken?.exposed, forKey: .idToken)
        if !resources.isEmpty { try values.encode(resources.map(\.rawValue), forKey: .resources) }
        if !details.isEmpty { try values.encode(details, forKey: .details) }
        if authentication != .none { try values.encode(authentication, forKey: .authentication) }
        try values.encodeIfPresent(server, forKey: .server)
        try values.encodeIfPresent(proofKey, forKey: .proofKey)
    }
}
