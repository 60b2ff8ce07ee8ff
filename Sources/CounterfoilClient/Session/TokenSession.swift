public import CounterfoilProtocol
package import Foundation

/// A session of a signed-in user, which provides fresh access tokens and calls APIs with them.
///
///     let session = TokenSession(store: store)
///     let photos = try await session.get("https://photos.example.com/photos")
///
/// Several tasks and processes may need a new access token at once. Only one of them sends a refresh request
/// (RFC 6749 §6), and all of them receive the new token. A failed refresh ends the session only if the server
/// rejects the refresh token or returns an invalid ID token, and not after a network failure. A session is cheap to
/// create, and holds no file or connection open.
public actor TokenSession {
    /// The name under which the credentials are stored.
    public nonisolated let profile: ProfileName

    private let store: any TokenStore
    private let transport: any HTTPTransport
    private let now: @Sendable () -> Date
    private nonisolated let broadcast = EventBroadcast<Event>()
    private var known: TokenRecord?
    private var unsaved: SessionRefresh.Unsaved?
    private var refresh: SharedWork<SessionRefresh.Outcome>?
    private var pausedUntil: ContinuousClock.Instant?

    /// The maximum time to wait for another process that refreshes the same profile.
    private static let lockTimeout = Duration.seconds(90)

    /// Creates a session for the credentials of a profile, which can be stored before or after this call.
    public init(
        store: any TokenStore, profile: ProfileName = .standard, transport: any HTTPTransport = .standard
    ) {
        self.init(store: store, profile: profile, transport: transport, now: { Date() })
    }

    /// Creates a session with a custom clock.
    package init(
        store: any TokenStore, profile: ProfileName = .standard, transport: any HTTPTransport,
        now: @escaping @Sendable () -> Date
    ) {
        self.store = store
        self.profile = profile
        self.transport = transport
        self.now = now
    }

    /// A new stream of the events from now on, which ends when the session is deallocated.
    public nonisolated var events: AsyncStream<Event> { broadcast.stream() }

    /// Returns credentials with a usable access token, and refreshes them first if necessary.
    ///
    /// Cancelling the task ends only the wait of this task. A refresh that has begun continues, so that its result is
    /// stored.
    public func credentials() async throws(SessionError) -> Credentials {
        let record = try await record()
        let credentials = record.credentials
        let early = credentials.server?.profile.behavior.earlyRefresh ?? ServerBehavior.standard.earlyRefresh
        guard credentials.isExpired(at: now(), early: early) else { return credentials }
        guard credentials.refreshToken != nil else {
            guard credentials.isExpired(at: now(), early: 0) else { return credentials }
            throw .expired
        }
        do {
            return try await refreshed(replacing: credentials.accessToken)
        } catch {
            switch error {
            // As long as the old token is valid for more than two seconds, return it instead of an error.
            case .unavailable, .paused:
                guard credentials.isExpired(at: now(), early: 2) else { return credentials }
                throw error
            default: throw error
            }
        }
    }

    /// Refreshes an access token that an API has rejected, even if the token has not expired.
    ///
    /// If `stale` is no longer the access token of the session, the function sends no request and returns the
    /// current credentials.
    public func refreshed(replacing stale: AccessToken) async throws(SessionError) -> Credentials {
        if let known, known.credentials.accessToken != stale { return known.credentials }
        if let pausedUntil, pausedUntil > .now {
            throw .paused(seconds: Int((pausedUntil - .now).components.seconds) + 1)
        }
        let work = refresh ?? begin(replacing: stale)
        guard let outcome = await work.value() else { throw .cancelled }
        settle(outcome, of: work)
        switch outcome {
        case .refreshed(let record), .refreshedElsewhere(let record): return record.credentials
        case .refreshedButNotSaved(let unsaved): return unsaved.credentials
        case .failed(let error): throw error
        }
    }

    private func begin(replacing stale: AccessToken) -> SharedWork<SessionRefresh.Outcome> {
        let steps = SessionRefresh(
            store: store, profile: profile, transport: transport, now: now, lockTimeout: Self.lockTimeout,
            unsaved: unsaved)
        let work = SharedWork { await steps.run(replacing: stale) }
        refresh = work
        // Process the result even if all callers have stopped waiting.
        Task { if let outcome = await work.value() { settle(outcome, of: work) } }
        return work
    }

    /// Updates the session with the result of a refresh; has no effect if that result was already processed.
    private func settle(_ outcome: SessionRefresh.Outcome, of work: SharedWork<SessionRefresh.Outcome>) {
        guard refresh === work else { return }
        refresh = nil
        switch outcome {
        case .refreshed(let record):
            (known, unsaved) = (record, nil)
            broadcast.send(.refreshed(expires: record.credentials.expires))
        case .refreshedElsewhere(let record):
            (known, unsaved) = (record, nil)
            broadcast.send(.refreshedElsewhere(expires: record.credentials.expires))
        case .refreshedButNotSaved(let fresh):
            (known, unsaved) = (TokenRecord(fresh.credentials), fresh)
            broadcast.send(.refreshedButNotSaved(expires: fresh.credentials.expires, fresh.reason))
        case .failed(.ended(let error, _)):
            (known, unsaved) = (nil, nil)
            broadcast.send(.ended(error))
        case .failed(.unavailable(let error)):
            if case .unavailable(let failure) = error, let pause = failure.retryAfter { pausedUntil = .now + pause }
            broadcast.send(.refreshFailed(error))
        case .failed: known = unsaved.map { TokenRecord($0.credentials) }
        }
    }

    /// Signs out: deletes the credentials and revokes their tokens at the server.
    ///
    /// ``SessionError/unavailable(_:)`` means that the credentials are deleted, but the revocation failed.
    public func signOut() async throws(SessionError) -> TokenRevocation.Outcome {
        try await revoke(try await forget())
    }

    /// Signs out, and also ends the user's session at the server through the browser.
    ///
    /// The credentials are deleted before the browser opens. If both the browser sign-out and the revocation
    /// fail, the error of the browser sign-out is thrown.
    public func signOut(
        through browser: BrowserSignOut, onEvent report: @escaping @Sendable (BrowserSignOut.Event) -> Void = { _ in }
    ) async throws(SessionError) -> (tokens: TokenRevocation.Outcome, session: BrowserSignOut.Outcome) {
        let credentials = try await forget()
        let revocation: Result<TokenRevocation.Outcome, SessionError>
        do throws(SessionError) { revocation = .success(try await revoke(credentials)) } catch {
            revocation = .failure(error)
        }
        let session: BrowserSignOut.Outcome
        do { session = try await browser.run(credentials, onEvent: report) } catch { throw .unavailable(error) }
        return (try revocation.get(), session)
    }

    private func revoke(_ credentials: Credentials) async throws(SessionError) -> TokenRevocation.Outcome {
        do { return try await TokenRevocation(transport: transport).revoke(credentials) } catch {
            throw .unavailable(error)
        }
    }

    /// Deletes the stored credentials and returns the latest ones, even if those could not be stored.
    private func forget() async throws(SessionError) -> Credentials {
        let record: TokenRecord
        do {
            guard let removed = try await store.update(profile, { _ in .remove }) else {
                throw SessionError.notSignedIn(profile)
            }
            record = removed
        } catch let error as TokenStoreError {
            throw .store(error)
        } catch {
            throw .notSignedIn(profile)
        }
        // If the latest credentials could not be stored, return them instead of the stored ones: the server has
        // replaced the stored tokens, so the latest tokens are to be revoked.
        let latest = record.revision == unsaved?.sending.revision ? unsaved?.credentials : nil
        (known, unsaved) = (nil, nil)
        broadcast.send(.signedOut)
        return latest ?? record.credentials
    }

    /// The reason why the latest tokens could not be stored; nil if they are stored.
    ///
    /// The session uses these tokens as long as this object exists, and tries to store them with the next refresh.
    public var saveError: TokenStoreError? { unsaved?.reason }

    /// Replaces the credentials of the session with those of a new sign-in of the same user.
    ///
    /// If the store now contains the credentials of another user, or none because the session has ended, the new
    /// credentials are revoked instead.
    func adopt(_ fresh: Credentials, inPlaceOf former: Credentials) async throws(SessionError) {
        let record = TokenRecord(fresh.keepingRefreshToken(of: former))
        let before: TokenRecord?
        do {
            before = try await store.update(profile) { kept in
                kept?.credentials.hasSameHolder(as: former) == true ? .put(record) : .keep
            }
        } catch { throw .store(error) }
        if before?.credentials.hasSameHolder(as: former) == true {
            (known, unsaved) = (record, nil)
        } else {
            known = nil
            await discard(fresh)
            if before == nil { throw .notSignedIn(profile) }
        }
    }

    /// Revokes credentials that will not be used; ignores a failure.
    func discard(_ credentials: Credentials) async {
        _ = try? await TokenRevocation(transport: transport).revoke(credentials)
    }

    private func record() async throws(SessionError) -> TokenRecord {
        if let known, !known.credentials.isExpired(at: now()) { return known }
        do {
            guard let record = try await store.record(of: profile) else { throw SessionError.notSignedIn(profile) }
            known = record
            return record
        } catch let error as TokenStoreError {
            throw .store(error)
        } catch let error as SessionError {
            throw error
        } catch {
            throw .cancelled
        }
    }
}

extension TokenSession {
    /// Sends a GET request to an API with a fresh access token; returns the response, whatever its status.
    public func get(_ url: String) async throws -> TransportResponse { try await send(TransportRequest(api: url)) }

    /// Sends a request to an API with a fresh access token; returns the response, whatever its status.
    ///
    /// If the API rejects the token (401), the session refreshes the token and repeats the request once. Other
    /// tasks can use the session while this task waits for the response.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        let credentials = try await credentials()
        let response = try await ResourceClient(credentials, transport: transport).send(request)
        // A refresh does not satisfy a challenge that demands another sign-in or more scopes.
        guard response.statusCode == 401, credentials.refreshToken != nil, StepUp(demandedBy: response) == nil else {
            return response
        }
        let fresh: Credentials
        do { fresh = try await refreshed(replacing: credentials.accessToken) } catch {
            if case .ended = error { throw error }
            return response
        }
        return try await ResourceClient(fresh, transport: transport).send(request)
    }
}
