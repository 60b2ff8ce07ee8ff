package import CounterfoilPlatform
package import CounterfoilProtocol

extension TokenStore {
    /// Ends the lifetime of an access token that a server rejected before its expiration, so that the next use
    /// refreshes it.
    ///
    /// The sign-in stays. Without a refresh token, the next use throws ``SessionError/expired``. The function has no
    /// effect if the token is neither the access token of the profile by now, nor one for a part of the sign-in.
    package func expire(
        _ rejected: AccessToken, of profile: ProfileName, at now: Date = Date()
    ) async throws(TokenStoreError) {
        // A write during a refresh would make its result look outdated, and the result would be revoked.
        let lock = try await refreshLock(of: profile, within: .seconds(90))
        try await update(profile) { kept in
            guard let kept = kept.record, let credentials = kept.credentials.expiring(rejected, at: now) else {
                return .keep
            }
            return .put(TokenRecord(credentials, refreshIntent: kept.refreshIntent))
        }
        lock.release()
    }
}
