package import CounterfoilPlatform
package import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens

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
        case refreshed(Credentials, unused: UnusedParts)
        /// The server rejected the refresh token; the user has to sign in again.
        case rejected(SignInError)
        /// The server issued tokens of another user; the user has to sign in again, and these tokens must be revoked.
        case otherUser(Credentials, SignInError)
        /// The server issued an access token that must not be used, because it is of another type or for more than its
        /// target, or because its ID token is of another issuer or for another client.
        ///
        /// The credentials contain the former access token and the new refresh token, and must replace the previous
        /// ones immediately (RFC 6749 §6).
        case withheld(Credentials, SignInError)
        /// No conclusive response arrived; the credentials stay unchanged.
        case failed(SignInError)
    }

    /// The parts of a refresh response that the client did not use.
    package struct UnusedParts: Sendable, Hashable {
        /// The reason why the ID token was discarded; nil if it was verified, or if the response contains none.
        package var idToken: SignInError?
        /// The names of the optional members that count as absent because their values are not valid.
        package var members: [String] = []
    }

    /// Refreshes credentials at a server.
    ///
    /// The access token is for the whole sign-in, which it replaces in the credentials, or for a target
    /// (RFC 8707 §2.2, RFC 6749 §6), for which it is cached in them.
    package func refresh(
        _ credentials: Credentials, with token: RefreshToken, at server: AuthorizationServerConfiguration,
        for target: AccessTarget? = nil
    ) async -> Outcome {
        do throws(SignInError) {
            let place = server.behavior.callbackServer.flatMap { credentials.details[$0.parameter] }
            let request = TokenRequest.refreshToken(
                TokenRequest.RefreshExchange(
                    refreshToken: token, scope: target?.scope, resources: credentials.resources(of: target)))
            let outcome = try await TokenEndpointClient(
                server: server.relocated(to: place)
                    .adding(tokenParameters: credentials.tokenParameters, details: credentials.detailNames),
                clientID: credentials.clientID,
                authentication: credentials.authentication, prover: credentials.proofKey.map { DPoPProver($0) },
                transport: transport
            ).outcome(of: request.parameters, isRefresh: true)
            switch outcome {
            case .tokens(let issued):
                return await self.outcome(of: issued, for: credentials, at: server, target)
            case .unusableAccessToken(let refreshToken, let error):
                return .withheld(credentials.with(refreshToken), error)
            case .otherServer(_, let error): throw SignInError(error)
            }
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
        at server: AuthorizationServerConfiguration, _ target: AccessTarget?
    ) async -> Outcome {
        let tokens = issued.tokens
        let time = issued.time(at: now())
        var fresh = credentials.refreshed(with: issued, requested: target?.scope, at: time)
        var excess: SignInError?
        if let target {
            do throws(SignInError) { try credentials.check(fresh, isOnlyFor: target) } catch { excess = error }
            fresh = credentials.caching(fresh, for: target, at: now())
        } else {
            // A response for a part of the scope says nothing about `openid`.
            fresh.refreshOmitsIDToken = tokens.idToken == nil
            fresh.refusedParts = []
        }
        var unused = UnusedParts(members: issued.ignored)
        func result() -> Outcome {
            guard let target, let excess else { return .refreshed(fresh, unused: unused) }
            return .withheld(fresh.refusing(target), excess)
        }
        guard let idToken = tokens.idToken, let known = credentials.user else { return result() }
        do throws(SignInError) {
            let trusted = credentials.idToken.map(IDTokenCheck.audiences) ?? []
            let check = IDTokenCheck(transport: transport, trustedAudiences: trusted)
            let verified = try await check.verifyRefreshed(
                idToken, of: server, clientID: credentials.clientID, signIn: known.signIn,
                accessToken: tokens.accessToken, at: time)
            fresh.user = known.refreshed(with: verified)
            fresh.idToken = idToken
        } catch {
            // The response comes from the server over TLS, so these claims are believed without a verified signature
            // too (OpenID Connect Core §3.1.3.7 point 6).
            switch idToken.contradiction(to: known.subject, issuer: server.issuer, clientID: credentials.clientID) {
            case .wrongSubject?: return .otherUser(fresh, .unsafe(.idToken(.wrongSubject)))
            case let refusal?:
                return .withheld(credentials.with(tokens.refreshToken), .unsafe(.idToken(refusal)))
            // Everything else may be a wrong clock, or keys that are unavailable or stale. The server may already
            // reject the previous refresh token, so keep the new tokens, and the previous ID token.
            case nil: unused.idToken = error
            }
        }
        return result()
    }
}

extension Credentials {
    /// Returns the credentials with the refresh token of a response whose access token must not be used.
    fileprivate func with(_ issued: RefreshToken?) -> Credentials {
        var kept = self
        kept.refreshToken = issued ?? refreshToken
        return kept
    }
}

extension IDToken {
    /// Returns the reason why the ID token of a refresh is certainly not about the sign-in; nil if there is none.
    ///
    /// OpenID Connect Core §12.2: `iss` and `sub` must be the same, and `aud` must contain the client. The claims are
    /// read without verification. One that is missing or malformed is no such reason.
    fileprivate func contradiction(to subject: String, issuer: Issuer, clientID: ClientIdentifier) -> TokenRefusal? {
        guard let claims = JSONReader.unverifiedClaims(of: exposed) else { return nil }
        func differs(_ claim: String, from expected: String) -> Bool {
            guard let text = claims[claim]?.text else { return false }
            return !text.utf8.elementsEqual(expected.utf8)
        }
        if differs("sub", from: subject) { return .wrongSubject }
        if differs("iss", from: issuer.rawValue) { return .wrongIssuer }
        if differs("aud", from: clientID.rawValue) { return .wrongAudience }
        if case .array(let audience)? = claims["aud"], !audience.isEmpty,
            !audience.contains(where: { $0.text?.utf8.elementsEqual(clientID.rawValue.utf8) ?? false })
        {
            return .wrongAudience
        }
        return differs("azp", from: clientID.rawValue) ? .wrongAuthorizedParty : nil
    }
}
