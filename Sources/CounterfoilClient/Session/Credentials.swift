public import CounterfoilPlatform
@_spi(Counterfoil) public import CounterfoilProtocol
import CounterfoilTokens

/// The result of a sign-in: tokens, their user and expiration, and the data that a refresh needs.
public struct Credentials: Sendable, Hashable {
    /// The issuer of the tokens; a refresh fetches its metadata unless ``server`` is set.
    public let issuer: Issuer
    /// `client_id`: the client to which the tokens were issued, and the only one that can refresh them.
    public let clientID: ClientIdentifier
    /// The granted scope, which may be smaller than the requested one.
    public internal(set) var scope: Scope
    /// The access token, which ``ResourceClient`` sends to an API in the `Authorization` header.
    public internal(set) var accessToken: AccessToken
    /// The expiration of the access token, by this device's clock; nil if the server did not send it.
    public internal(set) var expires: Date?
    /// The user who signed in; nil if `openid` was not requested.
    public internal(set) var user: User?
    /// The refresh token; nil if the server issued none, or the client does not keep refresh tokens.
    public internal(set) var refreshToken: RefreshToken?
    /// The latest ID token, which identifies the user in a sign-out; nil if `openid` was not requested.
    public internal(set) var idToken: IDToken?
    /// The APIs for which the tokens were requested (RFC 8707); empty if the request named none.
    public internal(set) var resources: [Resource] = []
    /// The origins that the app named as those of its APIs when the user signed in; empty if it named none.
    ///
    /// The access token may be sent to ``allowedOrigins``, which include the origins of ``resources``.
    public internal(set) var apiOrigins: Set<APIOrigin> = []
    /// Further parameters of the server's responses that the client stores, by parameter name.
    ///
    /// The vendor profile and ``NativeSignIn/Options/details`` name them. One example is the URL of the user's API. A
    /// refresh replaces those that its response contains.
    public internal(set) var details: [String: String] = [:]
    /// The names in ``NativeSignIn/Options/details`` of the sign-in.
    var detailNames: Set<String> = []
    /// The parameters in ``NativeSignIn/Options/tokenParameters`` of the sign-in.
    var tokenParameters: [String: String] = [:]
    /// The client authentication at the token endpoint; ``ClientAuthentication/none`` for a public client.
    public internal(set) var authentication = ClientAuthentication.none
    /// Whether the credentials are those of a service without a user, from ``ServiceSignIn``.
    public internal(set) var isOfService = false
    /// The DPoP key to which the tokens are bound (RFC 9449); nil for Bearer tokens.
    ///
    /// It signs a new proof for each request.
    public internal(set) var proofKey: ProofKey?
    /// The server that issued the tokens, with its vendor profile; nil if the server needs no vendor profile.
    public internal(set) var server: VendorServer?
    /// Whether the client registered itself at the server (RFC 7591), which may forget such a client.
    public internal(set) var isSelfRegistered = false
    /// The endpoints of the server when its metadata were last fetched; nil if they are not known.
    var endpoints: ServerEndpoints?
    /// The time at which the access token arrived, by this device's clock; nil if it is not known.
    var received: Date?
    /// The seconds by which the server's clock was ahead of this device's then, negative if it was behind.
    ///
    /// 0 if they did not differ, or if the response did not show it.
    package internal(set) var clockOffset: TimeInterval = 0
    /// Whether the latest refresh returned no ID token, so that another one at once would return none either.
    package internal(set) var refreshOmitsIDToken = false
    /// The random identifier of the sign-in from which the credentials come; nil if it is not known.
    ///
    /// Refreshes and step-ups keep it, so that credentials without a known user can be told apart too.
    var signInID: String?
    /// The part of the sign-in for which the access token is; nil if it is for the whole sign-in.
    ///
    /// Credentials from ``TokenSession/credentials(for:)`` contain neither the refresh token nor the ID token of the
    /// sign-in. They are not for ``TokenSession/adopt(_:)``.
    public internal(set) var target: AccessTarget?
    /// The origins of the other APIs of the sign-in, to which a token for ``target`` is not sent.
    var foreignOrigins: Set<APIOrigin> = []
    /// The cached access tokens for parts of the sign-in, the oldest first.
    var narrowed: [NarrowedToken] = []
    /// The parts of the sign-in for which the server issues no token of their own, since the last refresh of the whole.
    var refusedParts: Set<AccessTarget> = []

    /// The user who signed in, from the verified ID token.
    public struct User: Sendable, Hashable, Codable {
        /// `sub`: the only claim that identifies the user, unique within the issuer.
        public let subject: String
        /// `name`: the full name for display; nil if the ID token omits it.
        public let name: String?
        /// `email`: the email address, which can change; nil if the ID token omits it.
        public let email: String?
        /// `auth_time`: the time at which the user authenticated; nil if the ID token of the sign-in omits it.
        public let authTime: Date?
        /// `acr`: the authentication context of the sign-in; nil if the server does not state it.
        public let authenticationContext: String?
        /// `amr`: the methods with which the user authenticated, such as `pwd` (RFC 8176).
        ///
        /// Empty if the server states none.
        public let authenticationMethods: [String]
        /// `nonce`: the nonce of the authorization request; nil for a sign-in without an authorization request.
        let nonce: Nonce?

        /// Creates a user for previews, tests and migration; the caller is responsible for the values.
        ///
        /// A refresh ends the session if its ID token names another `subject`.
        public init(
            subject: String, name: String? = nil, email: String? = nil, authTime: Date? = nil,
            authenticationContext: String? = nil, authenticationMethods: [String] = []
        ) {
            self.subject = subject
            self.name = name
            self.email = email
            self.authTime = authTime
            self.authenticationContext = authenticationContext
            self.authenticationMethods = authenticationMethods
            nonce = nil
        }

        init(_ token: VerifiedIDToken) { self.init(token, following: nil, nonce: token.nonce) }

        private init(_ token: VerifiedIDToken, following first: Self?, nonce: Nonce?) {
            subject = token.subject
            name = token.text(of: "name")
            email = token.text(of: "email")
            authTime = first?.authTime ?? token.authTime
            authenticationContext = first?.authenticationContext ?? token.authenticationContext
            let methods = first?.authenticationMethods ?? []
            authenticationMethods = methods.isEmpty ? token.authenticationMethods : methods
            self.nonce = nonce
        }
    }

    /// Returns whether the access token has expired or expires within `seconds`; false if the expiration is unknown.
    ///
    /// A token that can be renewed also counts as expired if this device's clock was set back since it arrived. It
    /// would otherwise appear to live longer than the server granted. Any other token is used until ``expires``, or
    /// until an API rejects it, because it may well be valid.
    public func isExpired(at now: Date = Date(), early seconds: Int = 10) -> Bool {
        guard let expires else { return false }
        return expires <= now.addingTimeInterval(TimeInterval(seconds))
            || (isRefreshable || isOfService) && clockWasSetBack(at: now)
    }

    /// Returns whether this device's clock was set back since the access token arrived, so that its age is not known.
    package func clockWasSetBack(at now: Date = Date()) -> Bool {
        received.map { $0 > now.addingTimeInterval(ServerClock.tolerance) } ?? false
    }

    /// Returns the credentials with the result of a refresh, and with the previous ID token.
    ///
    /// RFC 6749 §6: a new refresh token replaces the previous one. If the response contains none, the previous
    /// refresh token stays. `requested` is the requested scope; nil if the request named none.
    func refreshed(
        with issued: TokenEndpointClient.IssuedTokens, requested: Scope?, at time: ResponseTime
    ) -> Credentials {
        var fresh = self
        fresh.accessToken = issued.tokens.accessToken
        fresh.expires = issued.expires(from: time.received)
        fresh.scope = issued.tokens.scope ?? requested ?? scope
        fresh.refreshToken = issued.tokens.refreshToken ?? refreshToken
        fresh.details.merge(issued.details) { $1 }
        (fresh.received, fresh.clockOffset) = (time.received, time.difference)
        return fresh
    }
}

extension Credentials {
    /// Creates credentials for previews, for tests, and for tokens that another library has obtained.
    ///
    /// To continue a sign-in of another library, pass its refresh token and call ``TokenSession/adopt(_:)``; the next
    /// refresh checks the tokens. The credentials have no ID token, because the client did not verify one. `apiOrigins`
    /// are the origins of the APIs to which the access token may be sent; see ``allowedOrigins``. `expires` is nil if
    /// the expiration is not known; a time in the past causes a refresh before the first use.
    public init(
        issuer: Issuer,
        clientID: ClientIdentifier,
        accessToken: AccessToken,
        expires: Date?,
        refreshToken: RefreshToken? = nil,
        scope: Scope = Scope(),
        user: User? = nil,
        resources: [Resource] = [],
        apiOrigins: Set<APIOrigin> = [],
        authentication: ClientAuthentication = .none
    ) {
        self.init(
            issuer: issuer, clientID: clientID, scope: scope, accessToken: accessToken, expires: expires, user: user,
            refreshToken: refreshToken, resources: resources, apiOrigins: apiOrigins, authentication: authentication,
            signInID: Base64URL.encode(RandomBytes().bytes(16)))
    }

    /// The origins of the APIs to which the access token may be sent.
    ///
    /// These are ``apiOrigins`` and the origins of ``resources``. If the sign-in named neither, it is the origin of the
    /// issuer, which knows the token anyway. A token for a ``target`` is not sent to other resources of the sign-in.
    public var allowedOrigins: Set<APIOrigin> {
        guard !namesNoAPI else { return Set([try? APIOrigin(issuer.origin)].compactMap(\.self)) }
        return apiOrigins.union(resources.origins).subtracting(foreignOrigins)
    }

    /// Whether the sign-in named no API, neither by its origin nor by the URL of a resource.
    var namesNoAPI: Bool { apiOrigins.isEmpty && resources.origins.isEmpty && foreignOrigins.isEmpty }

    /// Whether a session can request another access token with a refresh token.
    package var isRefreshable: Bool { refreshToken != nil || target != nil && !isOfService }

    /// Whether the issuer or an API of the tokens is on a loopback host, so that http on this device is acceptable.
    var isForLoopback: Bool { issuer.isLoopback || resources.origins.contains { $0.isPlain } }
}

extension Credentials.User {
    /// The claims that the ID token of a refresh must not contradict (OpenID Connect Core §12.2).
    var signIn: IDTokenVerifier.SignIn { IDTokenVerifier.SignIn(subject: subject, authTime: authTime, nonce: nonce) }

    /// Returns the user with the name and email of a later ID token.
    ///
    /// A refresh does not authenticate the user, so `auth_time`, `acr`, `amr` and `nonce` stay the same. A later ID
    /// token may omit them.
    func refreshed(with token: VerifiedIDToken) -> Self { Self(token, following: self, nonce: nonce) }

    private enum CodingKeys: String, CodingKey {
        case subject, name, email, nonce
        case authTime = "auth_time"
        case authenticationContext = "acr"
        case authenticationMethods = "amr"
    }

    /// Decodes the user from a token store.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        subject = try values.decode(String.self, forKey: .subject)
        name = try values.decodeIfPresent(String.self, forKey: .name)
        email = try values.decodeIfPresent(String.self, forKey: .email)
        authTime = try values.decodeIfPresent(Date.self, forKey: .authTime)
        authenticationContext = try values.decodeIfPresent(String.self, forKey: .authenticationContext)
        authenticationMethods = try values.decodeIfPresent([String].self, forKey: .authenticationMethods) ?? []
        nonce = try values.decodeIfPresent(String.self, forKey: .nonce).flatMap { Nonce($0) }
    }

    /// Encodes the user for a token store.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(subject, forKey: .subject)
        try values.encodeIfPresent(name, forKey: .name)
        try values.encodeIfPresent(email, forKey: .email)
        try values.encodeIfPresent(authTime, forKey: .authTime)
        try values.encodeIfPresent(authenticationContext, forKey: .authenticationContext)
        if !authenticationMethods.isEmpty { try values.encode(authenticationMethods, forKey: .authenticationMethods) }
        try values.encodeIfPresent(nonce?.exposed, forKey: .nonce)
    }
}

extension Credentials {
    /// Returns whether both credentials have the same issuer, client and user.
    ///
    /// The user of credentials without an ID token is unknown, and two unknown users count as the same user.
    func hasSameHolder(as other: Credentials) -> Bool {
        issuer == other.issuer && clientID == other.clientID && user?.subject == other.user?.subject
    }

    /// Returns whether the credentials are certainly those of the same user, so that they may replace each other in a
    /// request.
    ///
    /// If the user of both is unknown, they must come from the same sign-in.
    func isOfSameUser(as other: Credentials) -> Bool {
        hasSameHolder(as: other) && (user != nil || signInID == other.signInID)
    }

    /// Returns these credentials with what the client knows about their sign-in.
    func completed(
        by client: IdentifiedClient, _ options: NativeSignIn.Options, at server: AuthorizationServerConfiguration
    ) -> Credentials {
        var completed = self
        completed.apiOrigins = options.apiOrigins
        completed.tokenParameters = options.tokenParameters
        completed.detailNames = options.details
        completed.isSelfRegistered = client.isSelfRegistered
        completed.endpoints = ServerEndpoints(server, at: Date())
        completed.signInID = Base64URL.encode(RandomBytes().bytes(16))
        return completed
    }

    /// Returns these credentials, with the refresh token of former credentials if these contain none.
    ///
    /// Some servers issue a refresh token only with the first sign-in. The former credentials must have the same
    /// issuer, client and user. A refresh token that is bound to another DPoP key cannot be used, and is not kept.
    func keepingRefreshToken(of former: Credentials) -> Credentials {
        guard refreshToken == nil, proofKey == former.proofKey, hasSameHolder(as: former) else { return self }
        var kept = self
        kept.refreshToken = former.refreshToken
        return kept
    }
}
