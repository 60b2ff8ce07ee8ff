import CounterfoilClient
import CounterfoilPlatform
import CounterfoilProtocol

/// The token of a stored sign-in, which is passed to another program for one server.
struct PassedToken {
    let profile: ProfileName
    let credentials: Credentials

    /// The user name for servers that expect one, with the token as the password.
    static let userName = "oauth2"

    /// Returns the fresh token of the profile for a server.
    ///
    /// - Throws: ``ResourceClient/Refusal`` if the token may not be sent to the server, before any request is sent.
    static func token(
        for server: EndpointURL, _ chosen: AccessTarget?, _ common: CommonOptions
    ) async throws -> PassedToken {
        let store = try await common.openStore().store
        let stored = try await common.storedCredentials(in: store)
        return try await token(of: stored, common.profile, for: server, chosen, in: store, common)
    }

    /// Returns the fresh token of a stored profile for a server.
    ///
    /// If the server issues no token for the resources at the server only, the user who chose no target gets the token
    /// of the whole sign-in with a message. If it is unavailable, no token is passed that opens more.
    ///
    /// - Throws: ``ResourceClient/Refusal`` as above; ``Failure`` if the token is bound to a key that the other program
    ///   does not have (RFC 9449).
    static func token(
        of stored: Credentials, _ profile: ProfileName, for server: EndpointURL, _ chosen: AccessTarget?,
        in store: any TokenStore & ClientRegistrationStore, _ common: CommonOptions
    ) async throws -> PassedToken {
        let target = target(for: server, chosen, of: stored)
        try stored.check(server, for: target)
        guard stored.proofKey == nil else { throw Failure(.usage, bound) }
        let session = common.session(of: profile, in: store)
        func credentials(for target: AccessTarget?) async throws -> Credentials {
            try await CommonOptions.renewService(profile, in: store, for: target)
            return try await session.credentials(for: target)
        }
        let passed: Credentials
        do { passed = try await credentials(for: target) } catch {
            guard target != nil, chosen == nil, let reason = refusal(error) else { throw error }
            passed = try await credentials(for: nil)
            common.console.say(
                "There is no access token for \(server.origin) only: \(reason). The token of the whole sign-in is passed,"
                    + " which its other APIs accept too. To prevent this, sign in for each API with a --profile of its own,"
                    + " or name the API with --resource of the helper.")
        }
        await common.warnIfNotSaved(session)
        return PassedToken(profile: profile, credentials: passed)
    }

    /// Returns the reason why the server issues no token for a part of a sign-in; nil if the error is another one.
    private static func refusal(_ error: any Error) -> String? {
        switch error {
        case SessionError.targetRefused(.server(let refusal)): "\(SignInError.refused(refusal))"
        case SessionError.unavailable(.unsafe(.accessToken(let excess))): "\(excess)"
        case SignInError.unsafe(.accessToken(let excess)): "\(excess)"
        default: nil
        }
    }

    /// Returns the part of the sign-in for which the token is: the chosen one, or else the resources at the server.
    ///
    /// Another program does not need a token that opens the other APIs of the sign-in. If no resource has the origin of
    /// the server, if there is no refresh token for another token, or if the authorization server has issued none since
    /// the last refresh of the whole sign-in, the token is that of the whole sign-in.
    static func target(
        for server: EndpointURL, _ chosen: AccessTarget?, of stored: Credentials
    ) -> AccessTarget? {
        if let chosen, !chosen.resources.isEmpty { return chosen }
        guard chosen != nil || stored.isRefreshable || stored.isOfService else { return nil }
        let target = stored.target(at: server, scope: chosen?.scope)
        if chosen == nil, let target, stored.isRefused(target) { return nil }
        return target
    }

    private static let bound =
        "the access token is bound to a key (DPoP) that other programs do not have; run counterfoil login without --dpop"
}

/// The ID token of a stored sign-in, with its expiration by this device's clock.
struct PassedIDToken {
    let token: IDToken
    let expires: Date

    /// Returns the ID token of the profile, and refreshes it first if it expires within 30 seconds.
    ///
    /// No refresh is sent if the latest one returned no ID token, as long as the access token is valid. An ID token
    /// that expires soon is returned if there is no newer one.
    ///
    /// - Parameter server: The server for which it is; nil for a token that no other program asks for.
    /// - Throws: ``ResourceClient/Refusal`` if the tokens of the profile may not be sent to the server.
    static func token(for server: EndpointURL? = nil, _ common: CommonOptions) async throws -> PassedIDToken {
        let store = try await common.openStore().store
        let stored = try await common.storedCredentials(in: store)
        if let server { try stored.check(server, origins: stored.allowedOrigins) }
        guard stored.idToken != nil else {
            throw Failure(
                .signInRequired, "the sign-in has no ID token; run counterfoil login again with --scope openid")
        }
        let current = PassedIDToken(stored)
        if let current, !isDue(in: stored) { return current }
        let (profile, choice) = (common.profile, common.store)
        let session = common.session(
            of: profile, in: store,
            host: .commandLine { _, limit in
                await EarlyRefresh.start(for: profile, nil, isForIDToken: true, in: choice, waiting: limit)
            })
        var latest = current
        if stored.refreshToken != nil, !stored.refreshOmitsIDToken || stored.isExpired() {
            // A valid ID token is not held back by its refresh.
            let isValid = current?.isValid(for: 2) == true
            latest = PassedIDToken(
                isValid
                    ? try await session.refreshedWithoutDelay()
                    : try await session.refreshed(replacing: stored.accessToken))
            await common.warnIfNotSaved(session)
        }
        guard let latest, latest.isValid(for: 2) else {
            throw Failure(
                .signInRequired,
                "the ID token has expired, and the server issued no new one; run counterfoil login again")
        }
        return latest
    }

    /// Returns true if the ID token of credentials expires so soon that it should be refreshed.
    static func isDue(in credentials: Credentials) -> Bool {
        PassedIDToken(credentials)?.isValid(for: 30) != true || credentials.clockWasSetBack()
    }

    /// Reads `exp` of an ID token that was verified when it was received; nil if it has none.
    private init?(_ credentials: Credentials) {
        guard let token = credentials.idToken, let end = UnverifiedClaims(token.exposed)?.expires else { return nil }
        self.token = token
        // `exp` follows the server's clock. The difference is obsolete if this device's clock was set since.
        expires = end.addingTimeInterval(credentials.clockWasSetBack() ? 0 : -credentials.clockOffset)
    }

    private func isValid(for seconds: TimeInterval) -> Bool { expires.timeIntervalSinceNow > seconds }
}
