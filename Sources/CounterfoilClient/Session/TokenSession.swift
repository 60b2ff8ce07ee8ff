import CounterfoilPlatform
public import CounterfoilProtocol

/// A session of a signed-in user, which provides fresh access tokens and calls APIs with them.
///
///     let session = TokenSession(for: signIn, store: store)
///     let photos = try await session.get("https://photos.example.com/photos")
///
/// A session is bound to an issuer and a client: it uses no credentials of others that the store may contain. It sends
/// the access token only to the origins that were named as those of the app's APIs.
///
/// Several tasks and processes may need a new access token at once. Only one of them sends a refresh request
/// (RFC 6749 §6), and all of them receive the new token, or the reason of its failure. A token that is still valid is
/// returned while its refresh takes longer than a moment. A failed refresh ends the session only if the server
/// rejects the refresh token or issues tokens of another user. A session notices if another process signs the user in
/// or out. It is cheap to create, and holds no file or connection open.
public actor TokenSession {
    /// The name under which the credentials are stored.
    public nonisolated let profile: ProfileName

    let store: any TokenStore
    let binding: SessionBinding
    let origins: Origins
    let transport: any HTTPTransport
    /// The sign-in for which the session was created; nil if it was created for a stored one.
    let ownSignIn: NativeSignIn?
    private let now: @Sendable () -> Date
    nonisolated let broadcast = EventBroadcast<Event>()
    /// The record that is in use, and the state of the store in which it was read.
    private var known: CachedRecord?
    private var unsaved: SessionRefresh.Unsaved?
    /// The reason why the API of the first call could not be stored; nil if it is stored, or if there was no such call.
    package internal(set) var originSaveError: TokenStoreError?
    private let host: RefreshHost
    /// The refresh that is in progress, and the part of the sign-in for which it requests an access token.
    private var refresh: (target: AccessTarget?, work: SharedWork<SessionRefresh.Outcome>)?
    /// The failure of the last refresh, for a store that keeps none; nil if it did not fail.
    private var lastFailure: RefreshFailure?
    /// The sign-in that is in progress, and the number of tasks that wait for it.
    private var signIn: (work: SharedWork<Result<Credentials, SessionError>>, waiting: Int)?

    private struct CachedRecord {
        let record: TokenRecord
        /// Nil if the record must be read again before it is used.
        let stamp: TokenStoreStamp?
    }

    /// The maximum time to wait for another process that refreshes the same profile.
    ///
    /// It is longer than the longest refresh, including the requests for metadata and keys.
    private static let lockTimeout = Duration.seconds(90)

    /// The maximum time for which a token that is still valid is held back by its refresh, in seconds.
    private static let patience = 0.3

    /// The remaining lifetime below which an access token is not returned while it can be refreshed, in seconds.
    private static let shortestLifetime = 2

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
        transport: any HTTPTransport, ownSignIn: NativeSignIn? = nil, host: RefreshHost = .app,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.binding = binding
        self.ownSignIn = ownSignIn
        self.origins = origins
        self.store = store
        self.profile = profile
        self.transport = transport
        self.host = host
        self.now = now
    }

    /// A new stream of the events from now on, which ends when the session is deallocated.
    public nonisolated var events: AsyncStream<Event> { broadcast.stream() }

    /// Calls a function with each event from now on, before the operation that caused it returns.
    package nonisolated func observe(_ observer: @escaping @Sendable (Event) -> Void) { broadcast.observe(observer) }

    /// Returns credentials with a usable access token, and refreshes them first if necessary.
    ///
    /// A token is refreshed a few seconds before it expires. If that takes longer than a moment, or if the server is
    /// unavailable, the function returns the current token as long as it is valid for more than two seconds, and the
    /// refresh continues. Cancelling the task ends only the wait of this task. A refresh that has begun continues, so
    /// that its result is stored.
    ///
    /// With `target`, the access token is for a part of the sign-in only: a refresh requests it with `resource`
    /// (RFC 8707 §2.2) and `scope` (RFC 6749 §6). It is stored with the sign-in, for at most 16 targets, and used until
    /// it expires. The access token of the whole sign-in stays. The function throws ``SessionError/targetRefused(_:)``
    /// if the sign-in does not contain the target, or if the server refuses it. It throws
    /// ``SessionError/unavailable(_:)`` with ``UnsafeResponse/accessToken(_:)`` if the token is certainly for more.
    public func credentials(for target: AccessTarget? = nil) async throws(SessionError) -> Credentials {
        let whole = try await record().credentials
        let target = try whole.part(target)
        guard let credentials = whole.cached(for: target) else { return try await refreshed(replacing: nil, target) }
        guard isDue(credentials) else { return credentials }
        guard whole.refreshToken != nil else {
            guard credentials.isExpired(at: now(), early: 0) else { return credentials }
            throw .expired
        }
        guard credentials.isExpired(at: now(), early: Self.shortestLifetime) else {
            return try await refreshedEarly(credentials, of: whole)
        }
        return try await refreshed(replacing: credentials.accessToken, target)
    }

    /// Refreshes an access token that an API has rejected, even if the token has not expired.
    ///
    /// If `stale` is no longer the access token of the session for `target`, the function sends no request and returns
    /// the current credentials. These can be credentials of another user, who signed in in another process.
    public func refreshed(
        replacing stale: AccessToken, for target: AccessTarget? = nil
    ) async throws(SessionError) -> Credentials {
        try await refreshed(replacing: stale, try await record().credentials.part(target))
    }

    /// Refreshes an access token, or requests the first one for a target if `stale` is nil.
    private func refreshed(
        replacing stale: AccessToken?, _ target: AccessTarget?
    ) async throws(SessionError) -> Credentials {
        while true {
            let whole = try await record().credentials
            let current = whole.cached(for: target)
            if let current, current.accessToken != stale { return current }
            // The next refresh sends the refresh token that this one gets.
            if let refresh, refresh.target != target {
                guard let outcome = await refresh.work.value() else { throw .cancelled }
                settle(outcome, of: refresh.work)
                continue
            }
            let work = refresh?.work ?? begin(replacing: whole, for: target)
            guard let outcome = await work.value() else { throw .cancelled }
            settle(outcome, of: work)
            // Another sign-in may have replaced the record, without a token for the target.
            if let credentials = try outcome.credentials(for: target) { return credentials }
        }
    }

    /// Refreshes the access token if it is about to expire, unless another process does so or has just failed to.
    ///
    /// The function returns when the result is stored.
    package func refreshEarly(for target: AccessTarget? = nil) async throws(SessionError) {
        let whole = try await record().credentials
        let target = try whole.part(target)
        guard let credentials = whole.cached(for: target), isDue(credentials), whole.refreshToken != nil,
            await canRefresh(whole)
        else { return }
        _ = try await refreshed(replacing: credentials.accessToken, target)
    }

    /// Begins to refresh the tokens of the whole sign-in, which the caller can still use, and returns the new ones if
    /// they are there within a moment.
    package func refreshedWithoutDelay() async throws(SessionError) -> Credentials {
        let whole = try await record().credentials
        return try await refreshedEarly(whole, of: whole)
    }

    /// Returns whether the access token expires so soon that it should be refreshed.
    private func isDue(_ credentials: Credentials) -> Bool {
        let behavior = credentials.server?.profile.behavior ?? .standard
        return credentials.isExpired(at: now(), early: behavior.earlyRefresh)
    }

    /// Begins to refresh a token that is still valid, and returns the result if it is there within a moment.
    private func refreshedEarly(
        _ valid: Credentials, of whole: Credentials
    ) async throws(SessionError) -> Credentials {
        let lifetime = valid.expires.map { $0.timeIntervalSince(now()) } ?? 0
        let patience = Duration.seconds(max(0, min(Self.patience, lifetime - TimeInterval(Self.shortestLifetime))))
        if refresh == nil {
            guard await canRefresh(whole) else { return valid }
            // Another process does not know tokens that could not be stored.
            if unsaved == nil, let refreshElsewhere = host.refreshElsewhere {
                await refreshElsewhere(valid.target, patience)
                return try await record().credentials.cached(for: valid.target) ?? valid
            }
        }
        if let refresh, refresh.target != valid.target { return valid }
        let work = refresh?.work ?? begin(replacing: whole, for: valid.target)
        guard let outcome = await work.value(within: patience) else {
            if Task.isCancelled { throw .cancelled }
            return valid
        }
        settle(outcome, of: work)
        do throws(SessionError) { return try outcome.credentials(for: valid.target) ?? valid } catch {
            switch error {
            case .ended, .notSignedIn, .expired, .cancelled: throw error
            // None of these makes the token invalid.
            default: return valid
            }
        }
    }

    /// Returns whether no other process refreshes at the moment, and none has just failed to.
    private func canRefresh(_ credentials: Credentials) async -> Bool {
        if let token = credentials.refreshToken, let failure = await store.refreshFailure(of: profile) ?? lastFailure,
            failure.concerns(token), failure.isRecent(at: now()) || failure.pause(at: now()) != nil
        {
            return false
        }
        do throws(TokenStoreError) { try await store.refreshLock(of: profile, within: .zero).release() } catch {
            return false
        }
        return true
    }

    private func begin(
        replacing stale: Credentials, for target: AccessTarget?
    ) -> SharedWork<SessionRefresh.Outcome> {
        let steps = SessionRefresh(
            store: store, profile: profile, binding: binding, transport: transport, now: now,
            lockTimeout: Self.lockTimeout, unsaved: unsaved, lastFailure: lastFailure, target: target, host: host)
        let work = SharedWork { await steps.run(replacing: stale) }
        refresh = (target, work)
        // Process the result even if all callers have stopped waiting.
        Task { if let outcome = await work.value() { settle(outcome, of: work) } }
        return work
    }

    /// Updates the session with the result of a refresh; has no effect if that result was already processed.
    private func settle(_ outcome: SessionRefresh.Outcome, of work: SharedWork<SessionRefresh.Outcome>) {
        guard let refresh, refresh.work === work else { return }
        let target = refresh.target
        self.refresh = nil
        // A refresh that sent no request leaves the failure of the previous one.
        if case .failed(_, let failure) = outcome { lastFailure = failure ?? lastFailure } else { lastFailure = nil }
        switch outcome {
        case .refreshed(let record, let unused):
            (known, unsaved) = (CachedRecord(record: record, stamp: nil), nil)
            broadcast.send(.refreshed(expires: record.credentials.cached(for: target)?.expires))
            tell(of: unused)
        case .refreshedElsewhere(let record):
            announce(record)
            (known, unsaved) = (CachedRecord(record: record, stamp: nil), nil)
        case .refreshedButNotSaved(let fresh, let unused):
            (known, unsaved) = (CachedRecord(record: TokenRecord(fresh.credentials), stamp: nil), fresh)
            let expires = fresh.credentials.cached(for: target)?.expires
            broadcast.send(.refreshedButNotSaved(expires: expires, fresh.reason))
            tell(of: unused)
        case .withheldButNotSaved(let kept, let error):
            (known, unsaved) = (CachedRecord(record: TokenRecord(kept.credentials), stamp: nil), kept)
            broadcast.send(.refreshFailed(error))
        case .failed(.ended(let error, _), _):
            forget()
            broadcast.send(.ended(error))
        case .failed(.unavailable(let error), _): broadcast.send(.refreshFailed(error))
        // The next call reads the record and says what has changed.
        case .failed: known = known.map { CachedRecord(record: $0.record, stamp: nil) }
        }
    }

    /// Sends the events for the parts of a response that were not used.
    private func tell(of unused: TokenRefresh.UnusedParts) {
        if let reason = unused.idToken { broadcast.send(.idTokenDiscarded(reason)) }
        if !unused.members.isEmpty { broadcast.send(.membersIgnored(unused.members)) }
    }

    /// The reason why the latest tokens could not be stored; nil if they are stored.
    ///
    /// The session uses these tokens as long as this object exists, and tries to store them with the next refresh.
    public var saveError: TokenStoreError? { unsaved?.reason }

    /// Returns the credentials to use without a refresh.
    package func presentCredentials() async throws(SessionError) -> Credentials { try await record().credentials }

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
            // While the stored record is one that the unsaved tokens should replace, they are the latest ones.
            if let replacing = unsaved.replacing(stored) {
                let isSame = replacing.sending.revision == unsaved.sending.revision
                let latest = (isSame ? known?.record : nil) ?? TokenRecord(replacing.credentials)
                self.unsaved = replacing
                known = CachedRecord(record: latest, stamp: stamp)
                return latest
            }
            self.unsaved = nil
            // A write that failed after it had replaced the file has stored them.
            if stored?.credentials.accessToken != unsaved.credentials.accessToken {
                await discard(unsaved.credentials)
            }
        }
        let record: TokenRecord
        do { record = try binding.admitted(stored, in: profile) } catch {
            let ending = stored == nil ? await ending() : nil
            if known != nil { broadcast.send(ending.map { .ended($0.cause) } ?? .signedOut) }
            known = nil
            throw ending?.error ?? error
        }
        announce(record)
        known = CachedRecord(record: record, stamp: stamp)
        return record
    }

    /// Returns the failure by which the session ended; nil if the user signed out, or was never signed in.
    private func ending() async -> RefreshFailure? {
        guard let failure = await store.refreshFailure(of: profile) ?? lastFailure, failure.endsSession else {
            return nil
        }
        if let token = known?.record.credentials.refreshToken { return failure.concerns(token) ? failure : nil }
        // Without a record, nothing tells whether the failure is that of the client of the session.
        if case .client = binding, failure != lastFailure { return nil }
        return failure
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
        let latest = former == nil ? unsaved : unsaved?.replacing(former)
        (known, unsaved) = (nil, nil)
        return latest?.credentials
    }

    /// Forgets why a former session ended, because a user has signed in.
    func forgetFailure() async {
        lastFailure = nil
        guard await store.refreshFailure(of: profile) != nil else { return }
        // If another process holds the lock, it replaces what was left.
        do throws(TokenStoreError) {
            let lock = try await store.refreshLock(of: profile, within: .zero)
            lock.leave(nil)
            lock.release()
        } catch {}
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
