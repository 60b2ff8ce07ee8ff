public import CounterfoilProtocol

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A session of a signed-in user, which provides fresh access tokens and calls APIs with them.
///
///     let session = TokenSession(for: signIn, store: store)
///     let photos = try await session.get("https://photos.example.com/photos")
///
/// A session is bound to an issuer and a client: it uses no credentials of others that the store may contain. It sends
/// the access token only to the origins that were named as those of the app's APIs.
///
/// Several tasks and processes may need a new access token at once. Only one of them sends a refresh request
/// (RFC 6749 §6), and all of them receive the new token. A failed refresh ends the session only if the server
/// rejects the refresh token or issues tokens of another user. A session notices if another process signs the user in
/// or out. It is cheap to create, and holds no file or connection open.
public actor TokenSession {
    /// The name under which the credentials are stored.
    public nonisolated let profile: ProfileName

    let store: any TokenStore
    let binding: SessionBinding
    let origins: Origins
    let transport: any HTTPTransport
    private let now: @Sendable () -> Date
    nonisolated let broadcast = EventBroadcast<Event>()
    /// The record that is in use, and the state of the store in which it was read.
    private var known: Known?
    private var unsaved: SessionRefresh.Unsaved?
    private var refresh: SharedWork<SessionRefresh.Outcome>?
    private var pausedUntil: ContinuousClock.Instant?
    /// The sign-in that is in progress, and the number of tasks that wait for it.
    private var signIn: (work: SharedWork<Result<Credentials, SessionError>>, waiting: Int)?

    private struct Known {
        let record: TokenRecord
        /// Nil if the record must be read again before it is used.
        let stamp: TokenStoreStamp?
    }

    /// The maximum time to wait for another process that refreshes the same profile.
    ///
    /// It is longer than the longest refresh, including the requests for metadata and keys.
    private static let lockTimeout = Duration.seconds(90)

    /// The origins to which a session sends the access token.
    enum Origins: Sendable {
        /// Those that were named at the sign-in.
        case stored
        /// Those that were named at the sign-in, or if none was, the origin of the first successful call, which is
        /// stored.
        case storedOrFirst
        /// These, whatever was named at the sign-in.
        case these(Set<APIOrigin>)
    }

    /// Creates a session with a binding, a rule for origins and a clock.
    init(
        _ binding: SessionBinding, store: any TokenStore, profile: ProfileName, origins: Origins,
        transport: any HTTPTransport, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.binding = binding
        self.origins = origins
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
        let credentials = try await record().credentials
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
    /// current credentials. These can be credentials of another user, who signed in in another process.
    public func refreshed(replacing stale: AccessToken) async throws(SessionError) -> Credentials {
        let current = try await record().credentials
        guard current.accessToken == stale else { return current }
        if let pausedUntil, pausedUntil > .now {
            throw .paused(seconds: Int((pausedUntil - .now).components.seconds) + 1)
        }
        let work = refresh ?? begin(replacing: stale)
        guard let outcome = await work.value() else { throw .cancelled }
        settle(outcome, of: work)
        switch outcome {
        case .refreshed(let record, _), .refreshedElsewhere(let record): return record.credentials
        case .refreshedButNotSaved(let unsaved): return unsaved.credentials
        case .failed(let error): throw error
        }
    }

    private func begin(replacing stale: AccessToken) -> SharedWork<SessionRefresh.Outcome> {
        let steps = SessionRefresh(
            store: store, profile: profile, binding: binding, transport: transport, now: now,
            lockTimeout: Self.lockTimeout, unsaved: unsaved)
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
        case .refreshed(let record, let unverified):
            (known, unsaved) = (Known(record: record, stamp: nil), nil)
            broadcast.send(.refreshed(expires: record.credentials.expires))
            if let unverified { broadcast.send(.idTokenDiscarded(unverified)) }
        case .refreshedElsewhere(let record):
            announce(record)
            (known, unsaved) = (Known(record: record, stamp: nil), nil)
        case .refreshedButNotSaved(let fresh):
            (known, unsaved) = (Known(record: TokenRecord(fresh.credentials), stamp: nil), fresh)
            broadcast.send(.refreshedButNotSaved(expires: fresh.credentials.expires, fresh.reason))
        case .failed(.ended(let error, _)):
            forget()
            broadcast.send(.ended(error))
        case .failed(.unavailable(let error)):
            if case .unavailable(let failure) = error, let pause = failure.retryAfter { pausedUntil = .now + pause }
            broadcast.send(.refreshFailed(error))
        // The next call reads the record and says what has changed.
        case .failed: known = known.map { Known(record: $0.record, stamp: nil) }
        }
    }

    /// The reason why the latest tokens could not be stored; nil if they are stored.
    ///
    /// The session uses these tokens as long as this object exists, and tries to store them with the next refresh.
    public var saveError: TokenStoreError? { unsaved?.reason }

    /// Returns the record to use, after a check whether another process has changed the store.
    private func record() async throws(SessionError) -> TokenRecord {
        let stamp = await store.changeStamp()
        if let known, let stamp, known.stamp == stamp { return known.record }
        let stored: TokenRecord?
        do { stored = try await store.record(of: profile) } catch {
            // A store that is unavailable for a moment, such as a locked keychain, does not make the token invalid.
            if let known, !error.isAboutOneRecord, !known.record.credentials.isExpired(at: now(), early: 0) {
                return known.record
            }
            throw error == .cancelled ? .cancelled : .store(error)
        }
        if let unsaved {
            // While the stored record is the one that the unsaved tokens should replace, they are the latest ones.
            if stored?.revision == unsaved.sending.revision {
                let latest = known?.record ?? TokenRecord(unsaved.credentials)
                known = Known(record: latest, stamp: stamp)
                return latest
            }
            self.unsaved = nil
            await discard(unsaved.credentials)
        }
        let record: TokenRecord
        do { record = try binding.admitted(stored, in: profile) } catch {
            if known != nil { broadcast.send(.signedOut) }
            known = nil
            throw error
        }
        announce(record)
        known = Known(record: record, stamp: stamp)
        return record
    }

    /// Sends the event for a record that another process has stored; sends none if the tokens are the known ones.
    private func announce(_ record: TokenRecord) {
        guard let former = known?.record.credentials, former.accessToken != record.credentials.accessToken else {
            return
        }
        broadcast.send(
            record.credentials.isOfSameUser(as: former)
                ? .refreshedElsewhere(expires: record.credentials.expires) : .signedInElsewhere)
    }

    /// Forgets the record in use after it was deleted or replaced, and returns the tokens that were never stored.
    ///
    /// `former` is the record that was deleted or replaced; nil if it is not known.
    @discardableResult
    func forget(_ former: TokenRecord? = nil) -> Credentials? {
        let latest = former?.revision == unsaved?.sending.revision ? unsaved?.credentials : nil
        (known, unsaved) = (nil, nil)
        return latest
    }

    /// Waits for the sign-in that is in progress, or starts one.
    func joinSignIn(
        _ steps: @escaping @Sendable () async -> Result<Credentials, SessionError>
    ) -> SharedWork<Result<Credentials, SessionError>> {
        let work = signIn?.work ?? SharedWork(steps)
        signIn = (work, (signIn?.waiting ?? 0) + 1)
        return work
    }

    /// Stops waiting for a sign-in; cancels it if no other task waits.
    func leaveSignIn(_ work: SharedWork<Result<Credentials, SessionError>>) {
        guard let signIn, signIn.work === work else { return }
        if signIn.waiting > 1 {
            self.signIn = (work, signIn.waiting - 1)
        } else {
            self.signIn = nil
            work.cancel()
        }
    }

    /// Revokes credentials that will not be used; ignores a failure.
    func discard(_ credentials: Credentials) async {
        _ = try? await TokenRevocation(transport: transport).revoke(credentials)
    }
}
