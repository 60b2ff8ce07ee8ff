import CounterfoilClient
import CounterfoilProtocol

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The token of a stored sign-in, which is passed to another program for one server.
struct PassedToken {
    let profile: ProfileName
    let credentials: Credentials

    /// The user name for servers that expect one, with the token as the password.
    static let userName = "oauth2"

    /// Returns the fresh token of the profile for a server.
    ///
    /// - Throws: ``ResourceClient/Refusal`` if the token may not be sent to the server, before any request is sent.
    static func token(for server: EndpointURL, _ common: CommonOptions) async throws -> PassedToken {
        let store = try await common.openStore().store
        guard let stored = try await store.credentials(of: common.profile) else {
            throw SessionError.notSignedIn(common.profile)
        }
        try stored.check(server, origins: stored.allowedOrigins)
        return try await token(of: common.profile, in: store, common)
    }

    /// Returns the fresh token of a stored profile, without regard to its servers.
    ///
    /// - Throws: ``Failure`` if the token is bound to a key that the other program does not have (RFC 9449).
    static func token(
        of profile: ProfileName, in store: any TokenStore, _ common: CommonOptions
    ) async throws -> PassedToken {
        try await CommonOptions.renewService(profile, in: store)
        let session = TokenSession(ofAnyClientIn: store, profile: profile)
        let credentials = try await session.credentials()
        await common.warnIfNotSaved(session)
        guard credentials.proofKey == nil else { throw Failure(.usage, bound) }
        return PassedToken(profile: profile, credentials: credentials)
    }

    private static let bound =
        "the access token is bound to a key (DPoP) that other programs do not have; run counterfoil login without --dpop"
}

/// The ID token of a stored sign-in, with its expiration.
struct PassedIDToken {
    let token: IDToken
    let expires: Date

    /// Returns the ID token of the profile, and refreshes it first if it expires within 30 seconds.
    ///
    /// - Parameter server: The server for which it is; nil for a token that no other program asks for.
    /// - Throws: ``ResourceClient/Refusal`` if the tokens of the profile may not be sent to the server.
    static func token(for server: EndpointURL? = nil, _ common: CommonOptions) async throws -> PassedIDToken {
        let store = try await common.openStore().store
        guard let stored = try await store.credentials(of: common.profile) else {
            throw SessionError.notSignedIn(common.profile)
        }
        if let server { try stored.check(server, origins: stored.allowedOrigins) }
        guard let token = stored.idToken else {
            throw Failure(
                .signInRequired, "the sign-in has no ID token; run counterfoil login again with --scope openid")
        }
        if let current = PassedIDToken(token) { return current }
        guard stored.refreshToken != nil else { throw expired }
        let session = TokenSession(ofAnyClientIn: store, profile: common.profile)
        let fresh = try await session.refreshed(replacing: stored.accessToken)
        await common.warnIfNotSaved(session)
        guard let token = fresh.idToken.flatMap({ PassedIDToken($0) }) else { throw expired }
        return token
    }

    private static var expired: Failure {
        Failure(
            .signInRequired, "the ID token has expired, and the server issued no new one; run counterfoil login again")
    }

    /// Reads `exp` of an ID token that was verified when it was received; nil if it has expired or expires soon.
    private init?(_ token: IDToken) {
        guard let expires = UnverifiedClaims(token.exposed)?.expires else { return nil }
        self.token = token
        self.expires = expires
        guard expires.timeIntervalSinceNow > 30 else { return nil }
    }
}
