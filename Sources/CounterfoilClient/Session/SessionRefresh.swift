import CounterfoilProtocol

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One refresh of the credentials of a profile, safe while other processes use the same store.
///
/// The refresh takes the steps that ``TokenStore`` describes. It stores the new credentials before the session
/// uses them. If storing fails, the session uses the new credentials nevertheless.
struct SessionRefresh: Sendable {
    let store: any TokenStore
    let profile: ProfileName
    let binding: SessionBinding
    let transport: any HTTPTransport
    let now: @Sendable () -> Date
    /// The maximum time to wait for another process that refreshes.
    let lockTimeout: Duration
    /// The result of an earlier refresh that is not stored yet; nil if there is none.
    let unsaved: Unsaved?
    var limits = RefreshLimits()

    /// Credentials that could not be stored, with the stored record that they should have replaced.
    struct Unsaved: Sendable {
        let credentials: Credentials
        let sending: TokenRecord
        let reason: TokenStoreError
    }

    enum Outcome: Sendable {
        /// `unverified` is the reason why the new ID token was discarded; nil if it was not.
        case refreshed(TokenRecord, unverified: SignInError?)
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
        let located: (credentials: Credentials, server: AuthorizationServerConfiguration)
        do { located = try await kept.credentials.located(transport: transport, at: now()) } catch {
            throw .unavailable(error)
        }

        let sending: TokenRecord
        switch try await stored({ () throws(TokenStoreError) in
            try await store.beginRefresh(of: kept, sending: token, at: now(), in: profile)
        }) {
        case .replaced(let record?): sending = record
        case .changed(let record): return .refreshedElsewhere(try binding.admitted(record, in: profile))
        case .replaced(nil): throw .notSignedIn(profile)
        }

        let result = await exchange(located.credentials, token, at: located.server)
        let responseWasLost = result.responseWasLost || kept.refreshIntent?.concerns(token) ?? false
        switch result.outcome {
        case .refreshed(let credentials, let unverified):
            return try await keep(credentials, instead: sending, unverified: unverified)
        case .rejected(let error):
            if let other = try await removed(sending) { return .refreshedElsewhere(other) }
            await binding.forgetRegistration(of: sending.credentials, after: error)
            throw .ended(error, afterLostResponse: responseWasLost)
        case .otherUser(let foreign, let error):
            await revoke(foreign)
            if let other = try await removed(sending) { return .refreshedElsewhere(other) }
            throw .ended(error, afterLostResponse: responseWasLost)
        case .failed(let error): throw .unavailable(error)
        }
    }

    /// Sends the refresh token, and again if the response is lost, or if the server has moved its token endpoint.
    ///
    /// Until a response arrives, the refresh token is the only one that the client knows. So it is sent again at once,
    /// while the server still answers it.
    private func exchange(
        _ credentials: Credentials, _ token: RefreshToken, at server: AuthorizationServerConfiguration
    ) async -> (outcome: TokenRefresh.Outcome, responseWasLost: Bool) {
        let limited = DeadlineTransport(
            transport: transport, limit: limits.request, deadline: .now + limits.total)
        let refresh = TokenRefresh(transport: limited, now: now)
        var outcome = await refresh.refresh(credentials, with: token, at: server)
        var responseWasLost = false
        for _ in 1..<limits.attempts {
            guard case .failed(let error) = outcome, error.mayHaveLostResponse else { break }
            responseWasLost = true
            outcome = await refresh.refresh(credentials, with: token, at: server)
        }
        guard case .failed(let error) = outcome, error.mayBeOfMovedEndpoint,
            let current = try? await credentials.fetchedConfiguration(transport: limited),
            current.tokenEndpoint != server.tokenEndpoint
        else { return (outcome, responseWasLost) }
        var moved = credentials
        moved.endpoints = ServerEndpoints(current, at: now())
        return (await refresh.refresh(moved, with: token, at: current), responseWasLost)
    }

    /// Stores new credentials, or revokes them if a user signed in or out meanwhile.
    private func keep(
        _ credentials: Credentials, instead sending: TokenRecord, unverified: SignInError?
    ) async throws(SessionError) -> Outcome {
        let outcome: RecordReplacement
        do { outcome = try await store.replace(sending, with: credentials, in: profile) } catch {
            // The server may already reject the previous refresh token, so the new one must not be lost.
            return .refreshedButNotSaved(Unsaved(credentials: credentials, sending: sending, reason: error))
        }
        switch outcome {
        case .replaced(let record?): return .refreshed(record, unverified: unverified)
        case .replaced(nil): throw .notSignedIn(profile)
        case .changed(let other):
            await revoke(credentials)
            return .refreshedElsewhere(try binding.admitted(other, in: profile))
        }
    }

    private func revoke(_ credentials: Credentials) async {
        _ = try? await TokenRevocation(transport: transport).revoke(credentials)
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

    /// Deletes a record, unless another process has changed or deleted it meanwhile.
    ///
    /// Returns the record of the other process if that process changed it; nil if the record was deleted.
    private func removed(_ record: TokenRecord) async throws(SessionError) -> TokenRecord? {
        let outcome = try await stored { () throws(TokenStoreError) in
            try await store.replace(record, with: nil, in: profile)
        }
        guard case .changed(let other?) = outcome else { return nil }
        return try binding.admitted(other, in: profile)
    }

    private func record() async throws(SessionError) -> TokenRecord {
        let record = try await stored { () throws(TokenStoreError) in try await store.record(of: profile) }
        return try binding.admitted(record, in: profile)
    }

    private func stored<Value>(
        _ work: () async throws(TokenStoreError) -> Value
    ) async throws(SessionError) -> Value {
        do { return try await work() } catch { throw .store(error) }
    }
}
