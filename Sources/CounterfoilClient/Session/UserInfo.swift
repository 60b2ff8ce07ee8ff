import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes

/// A request for the claims about the user who signed in (OpenID Connect Core §5.3).
public struct UserInfoRequest: Sendable {
    private let transport: any HTTPTransport

    /// Creates a request that is sent through `transport`.
    public init(transport: any HTTPTransport = .standard) { self.transport = transport }

    /// Fetches the server's claims about the user of `credentials`; nil if the server has no UserInfo endpoint.
    ///
    /// A response is rejected if its `sub` is not the `sub` of the ID token (OpenID Connect Core §5.3.2).
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
                    try await DPoPProver(key).send(request, carrying: credentials.accessToken, through: transport)
                } else {
                    try await transport.send(request)
                }
        } catch { throw SignInError(error) }
        switch response.statusCode {
        case 200: break
        case 300..<400: throw .unsafe(.redirected(origin: endpoint.origin))
        case 401, 403: throw .refused(OAuthError(.invalidToken, "the server rejected the access token"))
        case 429, 500..<600:
            throw .unavailable(
                .status(response.statusCode, origin: endpoint.origin, retryAfter: response.retryAfter))
        default: throw .unsafe(.userInfo(.unreadable))
        }
        guard let members = try? JSONReader.object(response.body), case .string(let subject) = members["sub"] else {
            throw .unsafe(.userInfo(.unreadable))
        }
        if let user = credentials.user {
            guard subject.utf8.elementsEqual(user.subject.utf8) else { throw .unsafe(.userInfo(.otherUser)) }
        }
        return UserInfo(subject: subject, members: members)
    }
}

/// The claims about a user in a UserInfo response.
///
/// OpenID Connect Core §5.1. The client checks only `sub`, which must match the ID token. All other claims are as
/// the server sent them.
public struct UserInfo: Sendable, Hashable {
    /// `sub`: the only claim that identifies the user, unique within the issuer.
    public let subject: String
    /// The claims whose values are strings, numbers or Booleans, by claim name, with each value as a string.
    public let claims: [String: String]

    /// The reason why the client rejects a UserInfo response (OpenID Connect Core §5.3.2).
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The response is not a JSON object with `sub`, as OpenID Connect Core §5.3.2 requires.
        case unreadable
        /// The `sub` of the response is not the `sub` of the ID token.
        case otherUser

        /// A description that is safe to show to users.
        public var description: String {
            switch self {
            case .unreadable: "the UserInfo response is invalid"
            case .otherUser: "the UserInfo response is about a user other than the one who signed in"
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
