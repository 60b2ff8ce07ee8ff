public import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
public import Foundation

/// The verified content of an access token: the subject, the client, the scope and the expiration time.
///
/// RFC 9068 §2.2. Only a ``ResourceServer`` creates values of this type. The API itself must check that the
/// user owns a requested object, and reject other users with ``AccessRefusal/forbidden(_:)``.
public struct VerifiedAccess: Sendable, Hashable {
    /// The party on whose behalf the client acts.
    public enum Party: Sendable, Hashable {
        /// A user who signed in and gave consent.
        case user(User)
        /// The client itself, without a user (RFC 6749 §4.4).
        case client(ClientIdentifier)
    }

    /// A user, identified by issuer and subject.
    ///
    /// Use both values as the key of a user in your database. The subject is unique only within its issuer
    /// (RFC 9068 §5, OpenID Connect Core §5.7).
    public struct User: Sendable, Hashable {
        /// `iss`, the server at which the user signs in.
        public let issuer: Issuer
        /// `sub`, the subject identifier of the user at the issuer.
        public let subject: String
    }

    /// `iss`, the server that issued the token.
    public let issuer: Issuer
    /// The member of `aud` that identifies this resource server.
    public let audience: String
    /// `sub`; ``party`` tells whether it identifies a user.
    public let subject: String
    /// `client_id`, the client that the token was issued to.
    public let clientID: ClientIdentifier
    /// `scope`, the granted scope; empty if the token has no scope.
    ///
    /// If the token was introspected, the scope contains only those scope tokens that the introspection
    /// response contains too.
    public let scope: Scope
    /// `exp`, the expiration time of the token.
    public let expires: Date
    /// `jti`, the identifier of the token, which is safe to log.
    public let tokenID: String
    /// `auth_time`, the time at which the user signed in; nil if the token does not contain it.
    public let authTime: Date?
    /// `acr`, the authentication context of the sign-in; nil if the token does not contain it.
    public let authenticationContext: String?
    /// `amr`, the methods by which the user signed in, such as `pwd` (RFC 8176); empty if the token does not contain it.
    public let authenticationMethods: [String]
    /// `jkt` of `cnf`, the thumbprint of the key to which the token is bound, and of which the request contained a
    /// proof.
    ///
    /// Nil if the token is a bearer token (RFC 9449 §6.1).
    public let keyThumbprint: KeyThumbprint?

    /// The scope that the request needed so far; a challenge states it together with what is required next.
    var requiredScope = Scope()
    /// Whether the proof of the key contained a nonce of this API.
    let isProvenWithNonce: Bool
    /// Whether the token was introspected; ``ResourceServer/recognizes(_:)`` requires it if the resource server
    /// introspects tokens.
    let isIntrospected: Bool

    /// Creates the verified access of a token.
    ///
    /// The argument `holding` is the scope of the introspection response; nil if the token was not introspected.
    init(
        _ token: VerifiedAccessToken, issuer: Issuer, audience: String, provenBy proof: VerifiedDPoPProof?,
        holding scope: Scope? = nil
    ) {
        self.issuer = issuer
        self.audience = audience
        subject = token.subject
        clientID = token.clientID
        isIntrospected = scope != nil
        self.scope = scope.map(token.scope.intersection) ?? token.scope
        expires = token.expires
        tokenID = token.tokenID
        authTime = token.authTime
        authenticationContext = token.authenticationContext
        authenticationMethods = token.authenticationMethods
        keyThumbprint = token.keyThumbprint
        isProvenWithNonce = proof?.containsNonce ?? false
    }

    /// The scheme with which the token was sent.
    var scheme: Challenges.Scheme { keyThumbprint == nil ? .bearer : .dpop }

    /// The party on whose behalf the client acts.
    ///
    /// RFC 9068 §2.2: if no user is involved, the subject of the token is the client. A subject that equals the
    /// client identifier is therefore always taken as the client, even if a user has the same identifier
    /// (RFC 9700 §4.15).
    public var party: Party {
        subject == clientID.rawValue ? .client(clientID) : .user(User(issuer: issuer, subject: subject))
    }

    /// Returns the user on whose behalf the client acts.
    ///
    /// - Throws: ``AccessRefusal/forbidden(_:)`` if the client acts for itself, without a user.
    public func user() throws(AccessRefusal) -> User {
        switch party {
        case .user(let user): return user
        case .client: throw .forbidden("this operation requires a token that was issued for a user")
        }
    }
}
