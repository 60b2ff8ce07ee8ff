public import CounterfoilProtocol
package import Foundation
public import HTTPTypes

/// A person who stays signed in: fresh access tokens, and calls of an API with them.
///
///     let session = TokenSession(store: store)
///     let photos = try await session.get("https://photos.example.com/photos")
///
/// However many tasks and processes ask at once, one request refreshes (RFC 6749 §6), and all of them get its access token.
/// Only a refusal by the server ends a session; being offline does not. A session is cheap, and holds nothing open.
public actor TokenSession {
    /// The name under which the credentials are kept.
    public nonisolated let profile: ProfileName

    private let store: any TokenStore
    private let transport: any HTTPTransport
    private let now: @Sendable () -> Date
    private nonisolated let broadcast = EventBroadcast<Event>()
    private var known: TokenRecord?
    private var unkept: SessionRefresh.Unkept?
    private var refresh: SharedWork<SessionRefresh.End>?
    private var pausedUntil: ContinuousClock.Instant?

    /// How long to wait for another process that refreshes the same profile.
    private static let patience = Duration.seconds(90)

    /// A session of the credentials that a store keeps under a profile, now or later.
    public init(
        store: any TokenStore, profile: ProfileName = .standard, transport: any HTTPTransport = .standard
    ) {
        self.init(store: store, profile: profile, transport: transport, now: { Date() })
    }

    /// A session with another clock.
    package init(
        store: any TokenStore, profile: ProfileName = .standard, transport: any HTTPTransport,
        now: @escaping @Sendable () -> Date
    ) {
        self.store = store
        self.profile = profile
        self.transport = transport
        self.now = now
    }

    /// What happens from now on; each call gives a stream of its own, which ends with the session value.
    public nonisolated var events: AsyncStream<Event> { broadcast.stream() }

    /// Credentials whose access token can be used now; refreshed first when it cannot.
    ///
    /// Cancelling the task ends its wait and nobody else's; a refresh that has begun goes on, so that its answer is kept.
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
            // What is left of the old one is better than nothing.
            case .unavailable, .paused:
                guard credentials.isExpired(at: now(), early: 2) else { return credentials }
                throw error
            default: throw error
            }
        }
    }

    /// Refreshes now, though the access token has not expired: for an API that does not take it.
    ///
    /// Nothing is sent when `stale` is not the access token of the session any more.
    public func refreshed(replacing stale: AccessToken) async throws(SessionError) -> Credentials {
        if let known, known.credentials.accessToken != stale { return known.credentials }
        if let pausedUntil, pausedUntil > .now {
            throw .paused(seconds: Int((pausedUntil - .now).components.seconds) + 1)
        }
        let work = refresh ?? begin(replacing: stale)
        guard let end = await work.value() else { throw .cancelled }
        settle(end, of: work)
        switch end {
        case .refreshed(let record), .refreshedElsewhere(let record): return record.credentials
        case .refreshedUnkept(let unkept): return unkept.credentials
        case .failed(let error): throw error
        }
    }

    private func begin(replacing stale: AccessToken) -> SharedWork<SessionRefresh.End> {
        let steps = SessionRefresh(
            store: store, profile: profile, transport: transport, now: now, patience: Self.patience, unkept: unkept)
        let work = SharedWork { await steps.run(replacing: stale) }
        refresh = work
        // Somebody learns of its end even when everybody has stopped waiting.
        Task { if let end = await work.value() { settle(end, of: work) } }
        return work
    }

    /// Learns from the end of a refresh, once.
    private func settle(_ end: SessionRefresh.End, of work: SharedWork<SessionRefresh.End>) {
        guard refresh === work else { return }
        refresh = nil
        switch end {
        case .refreshed(let record):
            (known, unkept) = (record, nil)
            broadcast.send(.refreshed(expires: record.credentials.expires))
        case .refreshedElsewhere(let record):
            (known, unkept) = (record, nil)
            broadcast.send(.refreshedElsewhere(expires: record.credentials.expires))
        case .refreshedUnkept(let fresh):
            (known, unkept) = (TokenRecord(fresh.credentials), fresh)
            broadcast.send(.refreshedUnkept(expires: fresh.credentials.expires, fresh.reason))
        case .failed(.ended(let error, _)):
            (known, unkept) = (nil, nil)
            broadcast.send(.ended(error))
        case .failed(.unavailable(let error)):
            if case .unavailable(let failure) = error, let pause = failure.retryAfter { pausedUntil = .now + pause }
            broadcast.send(.refreshFailed(error))
        case .failed: known = unkept.map { TokenRecord($0.credentials) }
        }
    }

    /// Signs out: forgets the credentials here, and tells the server where it can be told.
    ///
    /// They are gone from the store in any case; an error says that the server could not be told.
    public func signOut() async throws(SessionError) -> TokenRevocation.Outcome {
        try await revoke(try await forget())
    }

    /// Signs out, and ends the person's session at the server in the browser as well.
    ///
    /// The credentials are gone from the store in any case, before the browser opens. An error of the browser comes before one
    /// of the revocation.
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

    /// Forgets the credentials here; they are what it answers.
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
        // What could not be kept is what the server has to be told of.
        let latest = record.revision == unkept?.sending.revision ? unkept?.credentials : nil
        (known, unkept) = (nil, nil)
        broadcast.send(.signedOut)
        return latest ?? record.credentials
    }

    /// Why the latest tokens are not in the store; nil when they are.
    ///
    /// They serve for as long as this session value lives, and are kept with the next refresh if that can be.
    public var unkeptReason: TokenStoreError? { unkept?.reason }

    /// Keeps what another sign-in of the same person gave, for an API that asked for more, unless somebody signed in or out
    /// meanwhile.
    func adopt(_ fresh: Credentials, inPlaceOf former: Credentials) async throws(SessionError) {
        let record = TokenRecord(fresh.keepingRefreshToken(of: former))
        let before: TokenRecord?
        do {
            before = try await store.update(profile) { kept in
                kept?.credentials.hasSameHolder(as: former) == true ? .put(record) : .keep
            }
        } catch { throw .store(error) }
        if before?.credentials.hasSameHolder(as: former) == true {
            (known, unkept) = (record, nil)
        } else {
            known = nil
            await discard(fresh)
            if before == nil { throw .notSignedIn(profile) }
        }
    }

    /// Tells the server that tokens are not needed.
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
    /// Fetches an address of an API.
    public func get(_ url: String) async throws -> TransportResponse { try await send(url) }

    /// Sends a request to an API with a fresh access token; an answer of whatever status is returned.
    ///
    /// When the API does not take the token (401), it is refreshed and the request repeated, once. Nothing of the session is
    /// held while the API works.
    public func send(
        _ url: String,
        method: HTTPRequest.Method = .get,
        headerFields: HTTPFields = [:],
        body: [UInt8] = [],
        byteLimit: Int = 64 * 1024 * 1024,
        timeout: Duration = .seconds(300)
    ) async throws -> TransportResponse {
        func attempt(_ credentials: Credentials) async throws -> TransportResponse {
            try await ResourceClient(credentials, transport: transport).send(
                url, method: method, headerFields: headerFields, body: body, byteLimit: byteLimit, timeout: timeout)
        }
        let credentials = try await credentials()
        let answer = try await attempt(credentials)
        // A challenge that asks for another sign-in or for more permissions is not one that a refresh answers.
        guard answer.statusCode == 401, credentials.refreshToken != nil, StepUp(demandedBy: answer) == nil else {
            return answer
        }
        let fresh: Credentials
        do { fresh = try await refreshed(replacing: credentials.accessToken) } catch {
            if case .ended = error { throw error }
            return answer
        }
        return try await attempt(fresh)
    }
}
