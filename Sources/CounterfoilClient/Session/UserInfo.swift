import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes

/// Asks a server who signed in.
///
/// OpenID Connect Core §5.3.
public struct UserInfoRequest: Sendable {
    private let transport: any HTTPTransport

    /// Makes a request over a transport.
    public init(transport: any HTTPTransport = .standard) { self.transport = transport }

    /// What the server says of the person who signed in with some credentials; nil when it has no such endpoint.
    ///
    /// An answer about anybody else than the person of the ID token is refused (OpenID Connect Core §5.3.2).
    public func claims(of credentials: Credentials) async throws(SignInError) -> UserInfo? {
        let server = try await credentials.serverConfiguration(transport: transport)
        guard let endpoint = server.userInfoEndpoint else { return nil }
        let scheme = credentials.proofKey == nil ? server.behavior.authorizationScheme : "DPoP"
        let request = TransportRequest(
            endpoint,
            headerFields: [
                .accept: "application/json", .authorization: "\(scheme) \(credentials.accessToken.exposed)",
            ])
        let response: TransportResponse
        do {
            response =
                if let key = credentials.proofKey {
                    try await Prover(key).send(request, carrying: credentials.accessToken, through: transport)
                } else {
                    try await transport.send(request)
                }
        } catch { throw SignInError(error) }
        switch response.statusCode {
        case 200: break
        case 300..<400: throw .unsafe(.redirected(origin: endpoint.origin))
        case 401, 403: throw .refused(OAuthError(.invalidToken, "the server does not take the access token"))
        case 429, 500..<600:
            throw .unavailable(
                .status(response.statusCode, origin: endpoint.origin, retryAfter: response.retryAfter))
        default: throw .unsafe(.userInfo(.unreadable))
        }
        guard let members = try? JSONReader.object(response.body), case .string(let subject) = members["sub"] else {
            throw .unsafe(.userInfo(.unreadable))
        }
        if let person = credentials.person {
            guard subject.utf8.elementsEqual(person.subject.utf8) else { throw .unsafe(.userInfo(.otherPerson)) }
        }
        return UserInfo(subject: subject, members: members)
    }
}

/// What a server says of a person.
///
/// OpenID Connect Core §5.1; the claims are the server's words and nothing that this product has checked, but for `sub`.
public struct UserInfo: Sendable, Hashable {
    /// `sub`: the only claim that identifies a person, within the issuer.
    public let subject: String
    /// Every claim that is a text, a number or a truth value, as text by its wire name.
    public let claims: [String: String]

    /// Why an answer is not usable.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// It is not the JSON of OpenID Connect Core §5.3.2.
        case unreadable
        /// It is about somebody else than the ID token.
        case otherPerson

        /// What happened, safe to show.
        public var description: String {
            switch self {
            case .unreadable: "what the server says of the person cannot be read"
            case .otherPerson: "what the server says is about somebody else than the person who signed in"
            }
        }
    }

    init(subject: String, members: [String: JSONValue]) {
        self.subject = subject
        claims = members.compactMapValues { value in
            switch value {
            case .string(let text): text
            case .integer(let number): String(number)
            case .boolean(let truth): String(truth)
            case .number(let number): String(number)
            case .object, .array, .null: nil
            }
        }
    }
}
