package import CounterfoilPlatform

/// A session of a service, which provides fresh access tokens and calls APIs with them.
///
///     let session = ServiceSession(signIn)
///     let photos = try await session.get("https://photos.example.com/photos")
///
/// The session requests a new access token with the client credentials grant before the current one expires. If several
/// tasks need a token at once, the session sends one request. It keeps the token in memory only. A program that runs
/// often and ends soon can store it with ``ServiceSignIn/credentials(in:profile:minimumLifetime:)`` instead. For a
/// token for one API each, create a session for each, with other ``ServiceSignIn/resources``.
public actor ServiceSession {
    private let signIn: ServiceSignIn
    private let now: @Sendable () -> Date
    private var current: Credentials?
    private var request: SharedWork<Result<Credentials, SignInError>>?
    /// The error with which the server asked to wait, and the end of that time.
    private var pause: (until: ContinuousClock.Instant, error: SignInError)?

    /// Creates a session, which sends no request until it needs an access token.
    public init(_ signIn: ServiceSignIn) { self.init(signIn, now: { Date() }) }

    package init(_ signIn: ServiceSignIn, now: @escaping @Sendable () -> Date) {
        self.signIn = signIn
        self.now = now
    }

    /// Returns credentials with a usable access token, and requests a new one first if necessary.
    ///
    /// Cancelling the task ends only the wait of this task. If the server is unavailable or takes longer than a moment,
    /// the function returns the current access token as long as it is valid for more than two seconds.
    public func credentials() async throws(SignInError) -> Credentials {
        guard let current else { return try await fresh() }
        let early = (current.server?.profile.behavior ?? .standard).earlyRefresh
        guard current.isExpired(at: now(), early: early) else { return current }
        guard !current.isExpired(at: now(), early: 2) else { return try await fresh() }
        if let pause, pause.until > .now { return current }
        let work = request ?? begin()
        guard let result = await work.value(within: Self.patience) else {
            if Task.isCancelled { throw .cancelled }
            return current
        }
        settle(result, of: work)
        do throws(SignInError) { return try result.get() } catch {
            guard case .unavailable = error else { throw error }
            return current
        }
    }

    /// The maximum time for which a token that is still valid is held back by the request for another one.
    private static let patience = Duration.milliseconds(300)

    /// Sends a GET request to an API with a fresh access token; returns the response, whatever its status.
    public func get(_ url: String) async throws -> TransportResponse { try await send(TransportRequest(api: url)) }

    /// Sends a request to an API with a fresh access token; returns the response, whatever its status.
    ///
    /// The token is sent only to the origins in ``ServiceSignIn/apiOrigins`` and ``ServiceSignIn/resources``. If the
    /// API rejects the token (401), the session requests a new one and repeats the request once, unless its body can be
    /// sent only once (``RequestBody/isRepeatable``).
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        let credentials = try await credentials()
        let response = try await ResourceClient(credentials, transport: signIn.transport).send(request)
        // A new token does not satisfy a challenge that demands more scopes or a user's sign-in.
        guard response.statusCode == 401, StepUp(demandedBy: response) == nil else { return response }
        // If another task has replaced the rejected token, this task uses the new one.
        if let current, current.accessToken == credentials.accessToken { self.current = nil }
        guard request.body.isRepeatable, let fresh = try? await self.credentials() else { return response }
        return try await ResourceClient(fresh, transport: signIn.transport).send(request)
    }

    /// Requests a new access token, or waits for the request of another task.
    private func fresh() async throws(SignInError) -> Credentials {
        if let pause, pause.until > .now { throw pause.error }
        let work = request ?? begin()
        guard let result = await work.value() else { throw .cancelled }
        settle(result, of: work)
        return try result.get()
    }

    private func begin() -> SharedWork<Result<Credentials, SignInError>> {
        let work = SharedWork { [signIn] in
            do throws(SignInError) { return Result<Credentials, SignInError>.success(try await signIn.run()) } catch {
                return .failure(error)
            }
        }
        request = work
        // Process the result even if all callers have stopped waiting.
        Task { if let result = await work.value() { settle(result, of: work) } }
        return work
    }

    /// Updates the session with the result of a request; has no effect if that result was already processed.
    private func settle(
        _ result: Result<Credentials, SignInError>, of work: SharedWork<Result<Credentials, SignInError>>
    ) {
        guard request === work else { return }
        request = nil
        switch result {
        case .success(let credentials): (current, pause) = (credentials, nil)
        case .failure(let error):
            guard case .unavailable(let failure) = error, let time = failure.retryAfter else { return }
            pause = (.now + time, error)
        }
    }
}
