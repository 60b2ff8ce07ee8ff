public import CounterfoilProtocol
import CounterfoilTokens
package import Foundation

/// Gets a new access token for credentials that hold a refresh token.
///
/// RFC 6749 §6. One call is one request; who may call, and what is kept, is the business of a session.
public struct TokenRefresh: Sendable {
    private let transport: any HTTPTransport
    private let now: @Sendable () -> Date

    /// Makes a refresh over a transport.
    public init(transport: any HTTPTransport = .standard) { self.init(transport: transport, now: { Date() }) }

    /// Makes a refresh with another clock.
    package init(transport: any HTTPTransport, now: @escaping @Sendable () -> Date) {
        self.transport = transport
        self.now = now
    }

    /// What came of it.
    public enum Outcome: Sendable, Hashable {
        /// New credentials, which take the place of the old ones at once.
        case refreshed(Credentials)
        /// The server does not take this refresh token any more: the person signs in again.
        case rejected(SignInError)
        /// No answer that settles it came; the credentials stay as they are.
        case failed(SignInError)
    }

    /// Refreshes credentials at a server; a narrower scope and fewer resources can be asked for.
    public func refresh(
        _ credentials: Credentials, with token: RefreshToken, at server: AuthorizationServerConfiguration,
        scope: Scope? = nil, resources: [Resource]? = nil
    ) async -> Outcome {
        do throws(SignInError) {
            let place = server.behavior.callbackServer.flatMap { credentials.details[$0.parameter] }
            let answer = try await TokenEndpoint(
                server: server.relocated(to: place), clientID: credentials.clientID,
                authentication: credentials.authentication, prover: credentials.proofKey.map { Prover($0) },
                transport: transport
            ).answer(
                to: .refreshToken(
                    TokenRequest.RefreshExchange(
                        refreshToken: token, scope: scope, resources: resources ?? credentials.resources)))
            return .refreshed(try await accepted(answer, for: credentials, at: server))
        } catch {
            switch error {
            case .refused(let refusal) where refusal.code == .invalidGrant: return .rejected(error)
            // OpenID Connect Core §12.2: an answer about another user or another sign-in ends it.
            case .unsafe(.idToken): return .rejected(error)
            default: return .failed(error)
            }
        }
    }

    private func accepted(
        _ answer: TokenEndpoint.Answer, for credentials: Credentials, at server: AuthorizationServerConfiguration
    ) async throws(SignInError) -> Credentials {
        let tokens = answer.tokens
        let asked = now()
        var person: Credentials.Person?
        if let idToken = tokens.idToken, let known = credentials.person {
            do throws(SignInError) {
                let verified = try await IDTokenCheck(transport: transport).verifyRefreshed(
                    idToken, of: server, clientID: credentials.clientID, signIn: known.signIn,
                    accessToken: tokens.accessToken, at: answer.serverTime(at: asked))
                person = known.refreshed(with: verified)
            } catch {
                switch error {
                // Some servers state the latest sign-in of the user in any browser. The first ID token stays.
                case .unsafe(.idToken(.invalidClaim("auth_time"))): break
                case .unsafe(.idToken): throw error
                // Without keys nothing is learned of the person, who is known already; the tokens are good, and the server may
                // not take the former one any more.
                default: break
                }
            }
        }
        return credentials.refreshed(
            with: tokens, expires: tokens.expiresIn.map { asked.addingTimeInterval(TimeInterval($0)) }, person: person,
            details: answer.details)
    }
}
