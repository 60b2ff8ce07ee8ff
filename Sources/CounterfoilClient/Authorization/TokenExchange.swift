import CounterfoilProtocol
import CounterfoilTokens
package import Foundation

/// Exchanges a validated code for tokens, directly at the token endpoint and never through the browser.
///
/// RFC 6749 §4.1.3 and §4.1.4, RFC 7636 §4.5. When `openid` was asked for, the ID token is required and verified.
public struct TokenExchange: Sendable {
    private let transport: any HTTPTransport
    private let now: @Sendable () -> Date

    /// Makes an exchange over a transport.
    public init(transport: any HTTPTransport) { self.init(transport: transport, now: { Date() }) }

    /// Makes an exchange with another clock.
    package init(transport: any HTTPTransport, now: @escaping @Sendable () -> Date) {
        self.transport = transport
        self.now = now
    }

    /// Why the answer of a token endpoint is not one.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// A success that is not the JSON of RFC 6749 §5.1.
        case unreadable
        /// A `token_type` other than Bearer, which this product cannot send.
        case unknownTokenType
        /// A token that was to be bound to a key, and is not (RFC 9449 §5).
        case notBound
        /// A refusal that is not the JSON of RFC 6749 §5.2; the value is the status.
        case unreadableRefusal(Int)
        /// `openid` was asked for, and no ID token came (OpenID Connect Core §3.1.3.3).
        case noIDToken
        /// An ID token came, and the server publishes no keys to verify it with.
        case noKeys

        /// What happened, safe to show.
        public var description: String {
            switch self {
            case .unreadable: "the token endpoint's answer is not the JSON of an OAuth server"
            case .unknownTokenType: "the token endpoint gave a token of an unknown type"
            case .notBound: "the server gave a token that is not bound to the key, though that was asked for"
            case .unreadableRefusal(let status): "the server refused (status \(status)) without an OAuth error"
            case .noIDToken: "the server gave no ID token, though openid was asked for"
            case .noKeys: "the server publishes no keys to verify its ID token with"
            }
        }
    }

    /// Exchanges a code; it is used up even when this fails.
    public func exchange(_ code: consuming ValidatedCode) async throws(SignInError) -> Credentials {
        let server = code.configuration
        let answer = try await TokenEndpoint(
            server: server, clientID: code.clientID, authentication: code.authentication, prover: code.prover,
            transport: transport
        ).answer(to: .authorizationCode(code.exchange))
        let tokens = answer.tokens
        var person: Credentials.Person?
        if let nonce = code.nonce {
            guard let idToken = tokens.idToken else { throw .unsafe(.tokenResponse(.noIDToken)) }
            let verified = try await IDTokenCheck(transport: transport).verify(
                idToken, of: server, clientID: code.clientID, nonce: nonce, maxAge: code.maxAge,
                accessToken: tokens.accessToken,
                at: answer.serverTime(at: now()))
            person = Credentials.Person(verified)
        }
        return Credentials(
            issuer: server.issuer,
            clientID: code.clientID,
            scope: tokens.scope ?? code.scope,
            accessToken: tokens.accessToken,
            expires: tokens.expiresIn.map { now().addingTimeInterval(TimeInterval($0)) },
            person: person,
            refreshToken: code.keepsRefreshToken ? tokens.refreshToken : nil,
            idToken: person == nil ? nil : tokens.idToken,
            resources: code.exchange.resources,
            details: answer.details.merging(code.details) { $1 },
            authentication: code.authentication,
            server: server.vendor,
            proofKey: code.prover?.key)
    }
}
