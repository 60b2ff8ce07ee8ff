import CounterfoilPlatform
@_spi(Counterfoil) import CounterfoilProtocol
@_spi(Counterfoil) public import CounterfoilTokens
import HTTPTypes

/// A request for the claims about the user who signed in (OpenID Connect Core §5.3).
public struct UserInfoRequest: Sendable {
    private let transport: any HTTPTransport

    /// Creates a request that is sent through `transport`.
    public init(transport: any HTTPTransport = .standard) { self.transport = transport }

    /// Fetches the server's claims about the user of a session; nil if the server has no UserInfo endpoint.
    ///
    /// If the server rejects the access token (401), the session refreshes it, and the request is sent again once. The
    /// claims are those of the user at the time of the call: if another user signs in meanwhile, the function throws
    /// ``SignInError/unsafe(_:)`` with ``UserInfo/Refusal/otherUser`` (OpenID Connect Core §5.3.2).
    public func claims(in session: TokenSession) async throws -> UserInfo? {
        let credentials = try await session.credentials()
        do {
            return try await claims(of: credentials)
        } catch SignInError.refused(let refusal) where refusal.code == .invalidToken {
            guard credentials.refreshToken != nil else { throw SignInError.refused(refusal) }
        }
        let fresh = try await session.refreshed(replacing: credentials.accessToken)
        guard fresh.isOfSameUser(as: credentials) else { throw SignInError.unsafe(.userInfo(.otherUser)) }
        return try await claims(of: fresh)
    }

    /// Fetches the server's claims about the user of `credentials`; nil if the server has no UserInfo endpoint.
    ///
    /// The response is JSON, or a JWT whose signature is verified. It is rejected if its `sub` is not the `sub` of the
    /// ID token (OpenID Connect Core §5.3.2). If the server rejects the access token (401), the function throws
    /// ``SignInError/refused(_:)`` with the error `invalid_token`.
    public func claims(of credentials: Credentials) async throws(SignInError) -> UserInfo? {
        let server = try await credentials.serverConfiguration(transport: transport)
        guard let endpoint = server.userInfoEndpoint else { return nil }
        let response = try await response(of: endpoint, of: server, to: credentials)
        let members: [String: JSONValue]
        switch response.mediaType {
        case "application/jwt": members = try await verified(response, of: server, for: credentials)
        default:
            guard let read = try? JSONReader.object(response.body) else { throw .unsafe(.userInfo(.unreadable)) }
            members = read
        }
        guard case .string(let subject) = members["sub"] else { throw .unsafe(.userInfo(.unreadable)) }
        if let user = credentials.user {
            guard subject.utf8.elementsEqual(user.subject.utf8) else { throw .unsafe(.userInfo(.otherUser)) }
        }
        return UserInfo(subject: subject, claims: members.mapValues { ClaimValue($0) })
    }

    private func response(
        of endpoint: EndpointURL, of server: AuthorizationServerConfiguration, to credentials: Credentials
    ) async throws(SignInError) -> TransportResponse {
        let scheme = credentials.proofKey == nil ? server.behavior.authorizationScheme : "DPoP"
        let request = TransportRequest(
            endpoint,
            headerFields: [
                // A server sends the form that the client is registered for, and may refuse to send the other one.
                .accept: "application/json, application/jwt",
                .authorization: "\(scheme) \(credentials.accessToken.exposed)",
            ])
        let response: TransportResponse
        do {
            response =
                if let key = credentials.proofKey {
                    try await DPoPProver(key).send(request, presenting: credentials.accessToken, through: transport)
                } else {
                    try await transport.send(request)
                }
        } catch { throw SignInError(error) }
        try response.requireAnswer(of: endpoint)
        switch response.statusCode {
        case 200: return response
        case 401: throw .refused(OAuthError(.invalidToken, "the server rejected the access token"))
        case 403:
            throw .refused(
                OAuthError(.insufficientScope, "the server denied access to the claims of the user"))
        default: throw .unsafe(.userInfo(.unreadable))
        }
    }

    /// Verifies the signature of a response with the keys of the server, and returns the claims.
    private func verified(
        _ response: TransportResponse, of server: AuthorizationServerConfiguration, for credentials: Credentials
    ) async throws(SignInError) -> [String: JSONValue] {
        let verifier = SignedUserInfoVerifier(issuer: credentials.issuer, clientID: credentials.clientID)
        let text = String(decoding: response.body, as: UTF8.self).trimmingWhitespace()
        let time = ResponseTime(received: Date(), serverDate: ServerClock.date(in: response))
        do throws(SignInError) {
            let check = IDTokenCheck(transport: transport)
            return try await check.withKeys(of: server, at: time) { keys throws(TokenRefusal) in
                try verifier.verify(text, keys: keys, at: time.forTokens)
            }
        } catch {
            guard case .unsafe(.idToken(let refusal)) = error else { throw error }
            throw .unsafe(.userInfo(.notAuthentic(refusal)))
        }
    }
}

/// The claims about a user in a UserInfo response.
///
/// OpenID Connect Core §5.1. The client checks only `sub`, which must match the ID token. All other claims are as
/// the server sent them.
public struct UserInfo: Sendable, Hashable {
    /// `sub`: the only claim that identifies the user, unique within the issuer.
    public let subject: String
    /// The claims by name, including `sub`.
    public let claims: [String: ClaimValue]

    /// The reason why the client rejects a UserInfo response (OpenID Connect Core §5.3.2).
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The response is neither a JSON object with `sub`, as OpenID Connect Core §5.3.2 requires, nor a JWT of one.
        case unreadable
        /// The `sub` of the response is not the `sub` of the ID token.
        case otherUser
        /// The response is a JWT that the server did not sign, or that is for another client; the value is the reason.
        case notAuthentic(TokenRefusal)

        /// A description that is safe to show to users.
        public var description: String {
            switch self {
            case .unreadable: "the UserInfo response is invalid"
            case .otherUser: "the UserInfo response is about a user other than the one who signed in"
            case .notAuthentic(let refusal): "the UserInfo response is not authentic: \(refusal)"
            }
        }
    }
}

/// The value of a claim: any JSON value (RFC 8259).
public enum ClaimValue: Sendable, Hashable {
    /// A string, such as the value of `name`.
    case string(String)
    /// A number without a fraction, such as the value of `updated_at`.
    case integer(Int64)
    /// A number with a fraction or an exponent, or one that is too large for ``integer(_:)``.
    case number(Double)
    /// A Boolean, such as the value of `email_verified`.
    case boolean(Bool)
    /// A list, such as the groups of a user.
    case array([ClaimValue])
    /// An object, such as the value of `address`.
    case object([String: ClaimValue])
    /// `null`.
    case null

    init(_ value: JSONValue) {
        switch value {
        case .string(let text): self = .string(text)
        case .integer(let number): self = .integer(number)
        case .number(let number): self = .number(number)
        case .boolean(let truth): self = .boolean(truth)
        case .array(let values): self = .array(values.map { ClaimValue($0) })
        case .object(let members): self = .object(members.mapValues { ClaimValue($0) })
        case .null: self = .null
        }
    }

    /// The text of a string; nil for every other value.
    public var text: String? { if case .string(let text) = self { text } else { nil } }
}

extension ClaimValue: CustomStringConvertible {
    /// The value as text for people: a string without quotes, a list separated by commas.
    public var description: String {
        switch self {
        case .string(let text): text
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .boolean(let truth): "\(truth)"
        case .array(let values): values.map(\.description).joined(separator: ", ")
        case .object(let members):
            members.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
        case .null: "null"
        }
    }
}

extension ClaimValue: Encodable {
    /// Encodes the value as the JSON value that it is.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .string(let text): try container.encode(text)
        case .integer(let number): try container.encode(number)
        case .number(let number): try container.encode(number)
        case .boolean(let truth): try container.encode(truth)
        case .array(let values): try container.encode(values)
        case .object(let members): try container.encode(members)
        case .null: try container.encodeNil()
        }
    }
}
