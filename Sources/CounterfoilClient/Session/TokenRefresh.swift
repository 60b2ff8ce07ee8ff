package import CounterfoilProtocol
import CounterfoilTokens

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

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
        ///
        /// `unverified` is the reason why the ID token of the response was discarded; nil if it was verified, or if the
        /// response contains none.
        case refreshed(Credentials, unverified: SignInError?)
        /// The server rejected the refresh token; the user has to sign in again.
        case rejected(SignInError)
        /// The server issued tokens of another user; the user has to sign in again, and these tokens must be revoked.
        case otherUser(Credentials, SignInError)
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
            return await outcome(of: issued, for: credentials, at: server)
        } catch {
            switch error {
            case .refused(let refusal) where refusal.code == .invalidGrant: return .rejected(error)
            // RFC 6749 §5.2: the server does not know a client that registered itself, and tokens of such a client
            // never work again. A client of the operator may have been disabled by mistake.
            case .refused(let refusal)
            where credentials.isSelfRegistered
                && (refusal.code == .invalidClient || refusal.code == .unauthorizedClient):
                return .rejected(error)
            default: return .failed(error)
            }
        }
    }

    private func outcome(
        of issued: TokenEndpointClient.IssuedTokens, for credentials: Credentials,
        at server: AuthorizationServerConfiguration
    ) async -> Outcome {
        let tokens = issued.tokens
        let received = now()
        var fresh = credentials.refreshed(
            with: tokens, expires: tokens.expiresIn.map { received.addingTimeInterval(TimeInterval($0)) },
            details: issued.details)
        guard let idToken = tokens.idToken, let known = credentials.user else {
            return .refreshed(fresh, unverified: nil)
        }
        do throws(SignInError) {
            let trusted = credentials.idToken.map(IDTokenCheck.audiences) ?? []
            let check = IDTokenCheck(transport: transport, trustedAudiences: trusted)
            let verified = try await check.verifyRefreshed(
                idToken, of: server, clientID: credentials.clientID, signIn: known.signIn,
                accessToken: tokens.accessToken, at: issued.serverTime(at: received))
            fresh.user = known.refreshed(with: verified)
            fresh.idToken = idToken
            return .refreshed(fresh, unverified: nil)
        } catch {
            // OpenID Connect Core §12.2: `sub` must be the same. The response comes from the server over TLS, so a
            // different `sub` is believed without a verified signature too (OpenID Connect Core §3.1.3.7 point 6).
            if let subject = idToken.unverifiedSubject, !subject.utf8.elementsEqual(known.subject.utf8) {
                return .otherUser(fresh, .unsafe(.idToken(.invalidClaim("sub"))))
            }
            // Everything else may be a wrong clock, or keys that are unavailable or stale. The server may already
            // reject the previous refresh token, so keep the new tokens, and the previous ID token.
            return .refreshed(fresh, unverified: error)
        }
    }
}

extension IDToken {
    /// `sub` in the payload, without verification; nil if the token is malformed.
    fileprivate var unverifiedSubject: String? {
        let parts = exposed.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Base64URL.decode(String(parts[1])),
            case .string(let subject)? = (try? JSONReader.object(payload))?["sub"]
        else { return nil }
        return subject
    }
}
