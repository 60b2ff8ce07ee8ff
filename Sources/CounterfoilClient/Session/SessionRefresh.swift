import CounterfoilPlatform
import CounterfoilProtocol

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
    /// The failure of the last refresh of the session, for a store that keeps none; nil if it did not fail.
    let lastFailure: RefreshFailure?
    /// The part of the sign-in for which the access token is requested; nil for the whole sign-in.
    var target: AccessTarget?
    var host = RefreshHost.app
    var limits = RefreshLimits()

    /// Credentials that could not be stored, with the stored record that they should have replaced.
    struct Unsaved: Sendable {
        let credentials: Credentials
        let sending: TokenRecord
        let reason: TokenStoreError

        /// Returns the credentials as those that should replace a stored record; nil if it contains another refresh
        /// token than the one that was sent, or another sign-in.
        func replacing(_ stored: TokenRecord?) -> Unsaved? {
            guard let stored else { return nil }
            if stored.revision == sending.revision { return self }
            return credentials.replacing(stored, insteadOf: sending)
                .map { Unsaved(credentials: $0, sending: stored, reason: reason) }
        }
    }

    enum Outcome: Sendable {
        case refreshed(TokenRecord, unused: TokenRefresh.UnusedParts)
        case refreshedElsewhere(TokenRecord)
        case refreshedButNotSaved(Unsaved, unused: TokenRefresh.UnusedParts)
        /// The new access token must not be used, for the reason in the error, and the new refresh token is not stored.
        case withheldButNotSaved(Unsaved, SignInError)
        /// The second value is the failure of the request; nil if none was sent.
        case failed(SessionError, RefreshFailure? = nil)
    }

    /// Refreshes the credentials; sends no request if another process has already replaced the token of `stale` in the
    /// store, or has failed to while this one was waiting for it.
    func run(replacing stale: Credentials) async -> Outcome {
        let start = now()
        do throws(SessionError) {
            let lock = try await refreshLock()
            let outcome = try await refresh(replacing: stale, since: start, holding: lock)
            lock.release()
            return outcome
        } catch {
            return .failed(error)
        }
    }

    private func refreshLock() async throws(SessionError) -> TokenStoreLock {
        do { return try await store.refreshLock(of: profile, within: lockTimeout) } catch { throw .store(error) }
    }

    /// Refreshes the credentials while holding the refresh lock, and leaves the failure of a request with it.
    private func refresh(
        replacing stale: Credentials, since start: Date, holding lock: borrowing TokenStoreLock
    ) async throws(SessionError) -> Outcome {
        let failure = await store.refreshFailure(of: profile) ?? lastFailure
        let kept: TokenRecord
        if let record = try await saveUnsaved() {
            kept = record
        } else {
            kept = try await record(after: stale, failure)
            if isReplaced(stale, by: kept.credentials) { return .refreshedElsewhere(kept) }
        }
        guard let token = kept.credentials.refreshToken else {
            throw target == nil ? .expired : .targetRefused(.noRefreshToken)
        }
        var limits = limits
        if let failure, failure.concerns(token), !failure.endsSession {
            // Another process sent the token while this one was waiting for the lock.
            if failure.happened(after: start, at: now()) { throw failure.error }
            // RFC 9110 §10.2.3
            if let seconds = failure.pause(at: now()) { throw .paused(seconds: seconds) }
            // Many processes may come one after the other. Only the first of them tries several times.
            if failure.isRecent(at: now()) { limits.attempts = 1 }
        }
        let located: (credentials: Credentials, server: AuthorizationServerConfiguration)
        do { located = try await kept.credentials.located(transport: transport, at: now()) } catch {
            return failed(.unavailable(error), of: kept, sending: token, holding: lock)
        }

        let sending: TokenRecord
        switch try await stored({ () throws(TokenStoreError) in
            try await store.beginRefresh(of: kept, sending: token, at: now(), in: profile)
        }) {
        case .replaced(let record?): sending = record
        case .changed(let record): return .refreshedElsewhere(try binding.admitted(record, in: profile))
        case .replaced(nil): throw .notSignedIn(profile)
        }

        host.begin()
        defer { host.end() }
        do throws(SessionError) {
            let outcome = try await send(token, of: kept, sending, at: located, within: limits, holding: lock)
            if case .failed(_, let failure) = outcome { lock.leave(failure) } else { lock.leave(nil) }
            return outcome
        } catch {
            return failed(error, of: kept, sending: token, holding: lock)
        }
    }

    private func failed(
        _ error: SessionError, of kept: TokenRecord, sending token: RefreshToken, holding lock: borrowing TokenStoreLock
    ) -> Outcome {
        let failure = RefreshFailure(error, sending: token, by: kept.credentials.authentication, at: now())
        lock.leave(failure)
        return .failed(error, failure)
    }

    /// Sends the refresh token, and stores the result.
    private func send(
        _ token: RefreshToken, of kept: TokenRecord, _ sending: TokenRecord,
        at located: (credentials: Credentials, server: AuthorizationServerConfiguration), within limits: RefreshLimits,
        holding lock: borrowing TokenStoreLock
    ) async throws(SessionError) -> Outcome {
        let result = await exchange(located.credentials, token, at: located.server, within: limits)
        let responseWasLost = result.responseWasLost || kept.refreshIntent?.concerns(token) ?? false
        switch result.outcome {
        case .refreshed(let credentials, let unused):
            return try await keep(credentials, instead: sending, unused: unused)
        case .withheld(let credentials, let error): return try await withhold(credentials, error, instead: sending)
        case .rejected(let error):
            // A process that finds no record any more looks for the failure.
            let ended = failed(
                .ended(error, afterLostResponse: responseWasLost), of: kept, sending: token, holding: lock)
            if let other = try await removed(sending) { return .refreshedElsewhere(other) }
            await binding.forgetRegistration(of: sending.credentials, after: error)
            return ended
        case .otherUser(let foreign, let error):
            await revoke(foreign)
            let ended = failed(
                .ended(error, afterLostResponse: responseWasLost), of: kept, sending: token, holding: lock)
            if let other = try await removed(sending) { return .refreshedElsewhere(other) }
            return ended
        case .failed(let error):
            // The server has answered, so that nothing is known to be lost when it refuses the token later.
            let refusal = target == nil ? nil : error.refusedTarget
            if !responseWasLost, !error.mayHaveReplacedRefreshToken {
                var known = kept.credentials
                if let target, refusal != nil { known = known.refusing(target) }
                _ = try? await store.replace(sending, with: known, in: profile)
            }
            if let refusal { throw .targetRefused(.server(refusal)) }
            throw .unavailable(error)
        }
    }

    /// Returns whether the store has another access token than `stale`, which another process has requested.
    private func isReplaced(_ stale: Credentials, by kept: Credentials) -> Bool {
        guard let target else { return kept.accessToken != stale.accessToken }
        guard let other = kept.cached(for: target) else { return false }
        return other.accessToken != stale.cached(for: target)?.accessToken && !other.isExpired(at: now())
    }

    /// Sends the refresh token, and again if the response is lost, or if the server has moved its token endpoint.
    ///
    /// Until a response arrives, the refresh token is the only one that the client knows. So it is sent again at once,
    /// while the server still answers it.
    private func exchange(
        _ credentials: Credentials, _ token: RefreshToken, at server: AuthorizationServerConfiguration,
        within limits: RefreshLimits
    ) async -> (outcome: TokenRefresh.Outcome, responseWasLost: Bool) {
        let limited = DeadlineTransport(
            transport: transport, limit: limits.request, deadline: .now + limits.total)
        let refresh = TokenRefresh(transport: limited, now: now)
        var outcome = await refresh.refresh(credentials, with: token, at: server, for: target)
        var responseWasLost = false
        for _ in 1..<limits.attempts {
            guard case .failed(let error) = outcome, error.mayHaveLostResponse else { break }
            responseWasLost = true
            outcome = await refresh.refresh(credentials, with: token, at: server, for: target)
        }
        guard case .failed(let error) = outcome, error.mayBeOfMovedEndpoint,
            let current = try? await credentials.fetchedConfiguration(transport: limited),
            current.tokenEndpoint != server.tokenEndpoint
        else { return (outcome, responseWasLost) }
        var moved = credentials
        moved.endpoints = ServerEndpoints(current, at: now())
        return (await refresh.refresh(moved, with: token, at: current, for: target), responseWasLost)
    }

    /// Stores new credentials, or revokes them if a user signed in or out meanwhile.
    private func keep(
        _ credentials: Credentials, instead sending: TokenRecord, unused: TokenRefresh.UnusedParts
    ) async throws(SessionError) -> Outcome {
        switch await replace(sending, with: credentials) {
        case .stored(let record): return .refreshed(record, unused: unused)
        // The server may already reject the previous refresh token, so the new one must not be lost.
        case .failed(let unsaved): return .refreshedButNotSaved(unsaved, unused: unused)
        case .changed(let other):
            await revoke(credentials, keeping: other?.credentials)
            return .refreshedElsewhere(try binding.admitted(other, in: profile))
        }
    }

    private enum Replacement {
        case stored(TokenRecord)
        /// The store contains another refresh token, or nothing.
        case changed(to: TokenRecord?)
        case failed(Unsaved)
    }

    /// Stores credentials in place of the record whose refresh token was sent, even if another process has written it
    /// again meanwhile.
    private func replace(_ sending: TokenRecord, with credentials: Credentials) async -> Replacement {
        var (sending, credentials) = (sending, credentials)
        while true {
            let outcome: RecordReplacement
            do { outcome = try await store.replace(sending, with: credentials, in: profile) } catch {
                return .failed(Unsaved(credentials: credentials, sending: sending, reason: error))
            }
            switch outcome {
            case .replaced(let record?): return .stored(record)
            case .replaced(nil): return .changed(to: nil)
            case .changed(let other):
                guard let other, let latest = credentials.replacing(other, insteadOf: sending) else {
                    return .changed(to: other)
                }
                (sending, credentials) = (other, latest)
            }
        }
    }

    /// Stores the refresh token of a response whose access token must not be used.
    ///
    /// The credentials contain the former access token, so that the new one is not used, and the next refresh sends the
    /// new refresh token (RFC 6749 §6).
    private func withhold(
        _ credentials: Credentials, _ error: SignInError, instead sending: TokenRecord
    ) async throws(SessionError) -> Outcome {
        switch await replace(sending, with: credentials) {
        case .stored: break
        case .failed(let unsaved): return .withheldButNotSaved(unsaved, error)
        case .changed(let other):
            await revoke(credentials, keeping: other?.credentials)
            return .refreshedElsewhere(try binding.admitted(other, in: profile))
        }
        let failure = SessionError.unavailable(error)
        // The other processes now know the new refresh token.
        return .failed(
            failure,
            credentials.refreshToken.flatMap {
                RefreshFailure(failure, sending: $0, by: credentials.authentication, at: now())
            })
    }

    /// Revokes tokens that are not stored, except those that the stored credentials contain too.
    private func revoke(_ credentials: Credentials, keeping stored: Credentials? = nil) async {
        var unused = credentials
        if let stored {
            if unused.refreshToken == stored.refreshToken { unused.refreshToken = nil }
            // A token that has expired is not revoked.
            if unused.accessToken == stored.accessToken { (unused.expires, unused.received) = (.distantPast, nil) }
            unused.narrowed.removeAll { stored.narrowed.contains($0) }
        }
        _ = try? await TokenRevocation(transport: transport).revoke(unused)
    }

    /// Stores the credentials of an earlier refresh that could not be stored then, and returns the new record.
    ///
    /// Returns nil if there are no such credentials, or if a user signed in or out meanwhile.
    private func saveUnsaved() async throws(SessionError) -> TokenRecord? {
        guard let unsaved else { return nil }
        switch await replace(unsaved.sending, with: unsaved.credentials) {
        case .stored(let record): return record
        case .changed: return nil
        case .failed(let latest): throw .store(latest.reason)
        }
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

    /// Reads the record; if it is gone because another process could not refresh `stale`, throws the reason.
    private func record(
        after stale: Credentials, _ failure: RefreshFailure?
    ) async throws(SessionError) -> TokenRecord {
        let record = try await stored { () throws(TokenStoreError) in try await store.record(of: profile) }
        if record == nil, let failure, failure.endsSession, let token = stale.refreshToken, failure.concerns(token) {
            throw failure.error
        }
        return try binding.admitted(record, in: profile)
    }

    private func stored<Value>(
        _ work: () async throws(TokenStoreError) -> Value
    ) async throws(SessionError) -> Value {
        do { return try await work() } catch { throw .store(error) }
    }
}

extension Credentials {
    /// Returns these credentials of a refresh as those that replace a stored record in place of the one that was sent;
    /// nil if it contains another refresh token, or another sign-in.
    ///
    /// Another process may have written the record again with the refresh token that was sent: to name an API, or with
    /// the access token of a step-up, which stays.
    fileprivate func replacing(_ stored: TokenRecord, insteadOf sending: TokenRecord) -> Credentials? {
        let (kept, sent) = (stored.credentials, sending.credentials)
        guard kept.refreshToken == sent.refreshToken, kept.signInID == sent.signInID else { return nil }
        var latest = kept.accessToken == sent.accessToken ? self : kept
        (latest.refreshToken, latest.apiOrigins) = (refreshToken, kept.apiOrigins)
        return latest
    }
}

extension SessionRefresh.Outcome {
    /// Returns the credentials to use, or nil if they contain no token for the target; throws the error of a refresh
    /// that failed.
    func credentials(for target: AccessTarget?) throws(SessionError) -> Credentials? {
        switch self {
        case .refreshed(let record, _), .refreshedElsewhere(let record): return record.credentials.cached(for: target)
        case .refreshedButNotSaved(let unsaved, _): return unsaved.credentials.cached(for: target)
        case .withheldButNotSaved(_, let error): throw .unavailable(error)
        case .failed(let error, _): throw error
        }
    }
}
