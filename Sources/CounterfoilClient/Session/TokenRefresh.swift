package import CounterfoilProtocol
import CounterfoilTokens
package import Foundation

/// A refresh of the access token by means of the refresh token.
///
/// RFC 6749 §6. Each call makes one token request. A session decides when to refresh and what to store.
package struct TokenRefresh: Sendable {
    private let transport: any HTTPTransport
    private let now: @Sendable () -> Date

    package init(transport: any HTTPTransport = .standard) { self.init(transport: transport, now: { Date() }) }

    package init(transport: any HTTPTransport, now: @escaping @Sendable () -> Date) {
        self.transport = transport
        self.now = now
    }

    package enum Outcome: Sendable, Hashable {
        /// The server issued tokens; the new credentials must replace the previous ones immediately.
        case refreshed(Credentials)
        /// The server rejected the refresh token or sent an invalid ID token; the user has to sign in again.
        case rejected(SignInError)
        /// No conclusive response arrived; the credentials stay unchanged.
        case failed(SignInError)
    }

    /// Refreshes credentials at a server; `scope` and `resources` can restrict the new access token.
    package func refresh(
        _ credentials: Credentials, with token: RefreshToken, at server: AuthorizationServerConfiguration,
        scope: Scope? = nil, resources: [Resource]? = nil
    ) async -> Outcome {
        do throws(SignInError) {
            let place = server.behavior.callbackServer.flatMap { credentials.details[$0.parameter] }
            let issued = try await TokenEndpointClient(
                server: server.relocated(to: place), clientID: credentials.clientID,
                authentication: credentials.authentication, prover: credentials.proofKey.map { DPoPProver($0) },
                transport: transport
            ).tokens(
                for: .refreshToken(
                    TokenRequest.RefreshExchange(
                        refreshToken: token, scope: scope, resources: resources ?? credentials.resources)))
            return .refreshed(try await accepted(issued, for: credentials, at: server))
        } catch {
            switch error {
            case .refused(let refusal) where refusal.code == .invalidGrant: return .rejected(error)
            // OpenID Connect Core §12.2: an ID token about another user or another sign-in ends the session.
            case .unsafe(.idToken): return .rejected(error)
            default: return .failed(error)
            }
        }
    }

    private func accepted(
        _ issued: TokenEndpointClient.IssuedTokens, for credentials: Credentials,
        at server: AuthorizationServerConfiguration
    ) async throws(SignInError) -> Credentials {
        let tokens = issued.tokens
        let asked = now()
        var user: Credentials.User?
        if let idToken = tokens.idToken, let known = credentials.user {
            do throws(SignInError) {
                let verified = try await IDTokenCheck(transport: transport).verifyRefreshed(
                    idToken, of: server, clientID: credentials.clientID, signIn: known.signIn,
                    accessToken: tokens.accessToken, at: issued.serverTime(at: asked))
                user = known.refreshed(with: verified)
            } catch {
                switch error {
                // The `auth_time` of some servers is the time of the user's latest sign-in in any browser, so it can
                // differ from that of the previous ID token. Ignore the new ID token and keep the previous one.
                case .unsafe(.idToken(.invalidClaim("auth_time"))): break
                case .unsafe(.idToken): throw error
                // The ID token could not be verified, for example because the JWKS is unavailable. Keep the
                // new tokens anyway: the server may already reject the previous refresh token.
                default: break
                }
            }
        }
        return credentials.refreshed(
            with: tokens, expires: tokens.expiresIn.map { asked.addingTimeInterval(TimeInterval($0)) }, user: user,
            details: issued.details)
    }
}
