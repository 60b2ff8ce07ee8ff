import CounterfoilProtocol
import Foundation

/// One refresh of the credentials of a profile, safe while other processes use the same store.
///
/// The refresh takes the steps that ``TokenStore`` describes. It stores the new credentials before the session
/// uses them. If storing fails, the session uses the new credentials nevertheless.
struct SessionRefresh: Sendable {
    let store: any TokenStore
    let profile: ProfileName
    let transport: any HTTPTransport
    let now: @Sendable () -> Date
    /// The maximum time to wait for another process that refreshes.
    let lockTimeout: Duration
    /// The result of an earlier refresh that is not stored yet; nil if there is none.
    let unsaved: Unsaved?

    /// Credentials that could not be stored, with the stored record that they should have replaced.
    struct Unsaved: Sendable {
        let credentials: Credentials
        let sending: TokenRecord
        let reason: TokenStoreError
    }

    enum Outcome: Sendable {
        case refreshed(TokenRecord)
        case refreshedElsewhere(TokenRecord)
        case refreshedButNotSaved(Unsaved)
        case failed(SessionError)
    }

    /// Refreshes the credentials; sends no request if another process has already replaced `stale` in the store.
    func run(replacing stale: AccessToken) async -> Outcome {
        do throws(SessionError) {
            let lock = try await refreshLock()
            let outcome = try await refresh(replacing: stale)
            lock.release()
            return outcome
        } catch {
            return .failed(error)
        }
    }

    private func refreshLock() async throws(SessionError) -> TokenStoreLock {
        do { return try await store.refreshLock(of: profile, within: lockTimeout) } catch { throw .store(error) }
    }

    private func refresh(replacing stale: AccessToken) async throws(SessionError) -> Outcome {
        let kept: TokenRecord
        if let record = try await saveUnsaved() {
            kept = record
        } else {
            kept = try await record()
            if kept.credentials.accessToken != stale { return .refreshedElsewhere(kept) }
        }
        guard let token = kept.credentials.refreshToken else { throw .expired }
        let responseWasLost = kept.refreshIntent?.concerns(token) ?? false
        let server = try await server(of: kept.credentials)

        let sending: TokenRecord
        switch try await stored({ () throws(TokenStoreError) in
            try await store.beginRefresh(of: kept, sending: token, at: now(), in: profile)
        }) {
        case .replaced(let record?): sending = record
        case .changed(let record?): return .refreshedElsewhere(record)
        case .replaced(nil), .changed(nil): throw .notSignedIn(profile)
        }

        switch await TokenRefresh(transport: transport, now: now).refresh(sending.credentials, with: token, at: server)
        {
        case .refreshed(let credentials): return try await keep(credentials, instead: sending, at: server)
        case .rejected(let error):
            if let other = try await replaced(sending, with: nil) { return .refreshedElsewhere(other) }
            throw .ended(error, afterLostResponse: responseWasLost)
        case .failed(let error): throw .unavailable(error)
        }
    }

    /// Stores new credentials, or revokes them if a user signed in or out meanwhile.
    private func keep(
        _ credentials: Credentials, instead sending: TokenRecord, at server: AuthorizationServerConfiguration
    ) async throws(SessionError) -> Outcome {
        let outcome: RecordReplacement
        do { outcome = try await store.replace(sending, with: credentials, in: profile) } catch {
            // The server may already reject the previous refresh token, so the new one must not be lost.
            return .refreshedButNotSaved(Unsaved(credentials: credentials, sending: sending, reason: error))
        }
        switch outcome {
        case .replaced(let record?): return .refreshed(record)
        case .replaced(nil): throw .notSignedIn(profile)
        case .changed(let other):
            _ = try? await TokenRevocation(transport: transport).revoke(credentials)
            guard let other else { throw .notSignedIn(profile) }
            return .refreshedElsewhere(other)
        }
    }

    /// Stores the credentials of an earlier refresh that could not be stored then, and returns the new record.
    ///
    /// Returns nil if there are no such credentials, or if a user signed in or out meanwhile.
    private func saveUnsaved() async throws(SessionError) -> TokenRecord? {
        guard let unsaved else { return nil }
        let outcome = try await stored { () throws(TokenStoreError) in
            try await store.replace(unsaved.sending, with: unsaved.credentials, in: profile)
        }
        if case .replaced(let record) = outcome { return record }
        return nil
    }

    /// Replaces a record, unless another process has changed or deleted it meanwhile.
    ///
    /// Returns the record of the other process if that process changed it; nil if the record was replaced or deleted.
    private func replaced(_ record: TokenRecord, with credentials: Credentials?) async throws(SessionError)
        -> TokenRecord?
    {
        let outcome = try await stored { () throws(TokenStoreError) in
            try await store.replace(record, with: credentials, in: profile)
        }
        if case .changed(let other) = outcome { return other }
        return nil
    }

    private func record() async throws(SessionError) -> TokenRecord {
        guard let record = try await stored({ () throws(TokenStoreError) in try await store.record(of: profile) })
        else {
            throw .notSignedIn(profile)
        }
        return record
    }

    private func server(of credentials: Credentials) async throws(SessionError) -> AuthorizationServerConfiguration {
        do { return try await credentials.serverConfiguration(transport: transport) } catch {
            throw .unavailable(error)
        }
    }

    private func stored<Value>(
        _ work: () async throws(TokenStoreError) -> Value
    ) async throws(SessionError) -> Value {
        do { return try await work() } catch { throw .store(error) }
    }
}

extension Credentials {
    /// Fetches the current configuration of the server that issued the credentials.
    func serverConfiguration(
        transport: any HTTPTransport
    ) async throws(SignInError) -> AuthorizationServerConfiguration {
        let found =
            if let server { try await server.configuration(transport: transport) } else {
                // The sign-in has already checked the metadata for PKCE, and the requests that follow do not use PKCE.
                try await MetadataDiscovery(transport: transport)
                    .configuration(of: issuer, skippingPKCEMetadataCheck: true)
            }
        return found.relocated(to: found.behavior.callbackServer.flatMap { details[$0.parameter] })
    }
}
