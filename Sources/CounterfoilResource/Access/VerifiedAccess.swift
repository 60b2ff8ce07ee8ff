public import CounterfoilProtocol
import CounterfoilTokens
public import Foundation

/// What an access token proved: who may do what here, and until when.
///
/// RFC 9068 §2.2. Only a ``ResourceServer`` makes one. It says nothing of what the person owns: whether this photo is
/// theirs remains the question of the API, and the answer to the wrong person is ``AccessRefusal/forbidden(_:)``.
public struct VerifiedAccess: Sendable, Hashable {
    /// For whom the application acts.
    public enum Party: Sendable, Hashable {
        /// A person who signed in and agreed.
        case person(Person)
        /// The application itself, without any person (RFC 6749 §4.4).
        case application(ClientIdentifier)
    }

    /// A person, as the rows of an API should name one.
    ///
    /// RFC 9068 §5 and OpenID Connect Core §5.7: the subject alone is unique only at its issuer.
    public struct Person: Sendable, Hashable {
        /// `iss` of the server where the person signs in.
        public let issuer: Issuer
        /// `sub`, the name of the person there.
        public let subject: String
    }

    /// `iss`, the server that issued the token.
    public let issuer: Issuer
    /// The member of `aud` that names this resource server.
    public let audience: String
    /// `sub`; ``party`` says whether it names a person.
    public let subject: String
    /// `client_id`, the application that asks.
    public let clientID: ClientIdentifier
    /// `scope`, what was granted and, where the server is asked, still holds; empty when the token names none.
    public let scope: Scope
    /// `exp`, when the token ends.
    public let expires: Date
    /// `jti`, the name of the token, fit for logs.
    public let tokenID: String
    /// `auth_time`, when the person signed in; nil when the token does not say, or names no person.
    public let authTime: Date?
    /// `acr`, how the person signed in; nil when the token does not say, or names no person.
    public let authenticationContext: String?

    /// Whether the issuer was asked about the token.
    let isIntrospected: Bool

    /// What a token proved and, where the issuer was asked, what of its scope still holds.
    init(_ token: VerifiedAccessToken, issuer: Issuer, audience: String, holding scope: Scope? = nil) {
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
    }

    /// For whom the application acts.
    ///
    /// RFC 9068 §2.2: a token that involves no person has the client for its subject. So an application whose identifier
    /// happens to be the subject of a person is still an application (RFC 9700 §4.15).
    public var party: Party {
        subject == clientID.rawValue ? .application(clientID) : .person(Person(issuer: issuer, subject: subject))
    }

    /// The person for whom the application acts, or a refusal when there is none.
    public func person() throws(AccessRefusal) -> Person {
        switch party {
        case .person(let person): return person
        case .application: throw .forbidden("this needs the token of a person, not that of an application")
        }
    }
}
