import HTTPTypes

extension TokenSession {
    /// Sends a GET request to an API with a fresh access token; returns the response, whatever its status.
    ///
    /// With `target`, the access token is for that part of the sign-in only; see ``credentials(for:)``.
    public func get(_ url: String, for target: AccessTarget? = nil) async throws(SessionError) -> TransportResponse {
        let request: TransportRequest
        do { request = try TransportRequest(api: url) } catch { throw .refused(error) }
        return try await send(request, for: target)
    }

    /// Sends a request to an API with a fresh access token; returns the response, whatever its status.
    ///
    /// If the API rejects the token (401), the session refreshes the token and repeats the request once, unless another
    /// user has signed in meanwhile. It throws if the token cannot be refreshed now, and returns the API's 401 if there
    /// is no refresh token, or if the body of the request can be sent only once (``RequestBody/isRepeatable``). Other
    /// tasks can use the session while this task waits for the response.
    ///
    /// With `target`, the access token is for that part of the sign-in only; see ``credentials(for:)``. It is not sent
    /// to other resources of the sign-in.
    public func send(
        _ request: TransportRequest, for target: AccessTarget? = nil
    ) async throws(SessionError) -> TransportResponse {
        try await response(to: request, for: target, by: Self.sending).response
    }

    /// Sends a request to an API as ``send(_:for:)`` does, and returns when the head of the response has arrived.
    ///
    /// ``TransportRequest/timeout`` limits the time until then, and `idleTimeout` each later wait for a byte.
    /// ``TransportRequest/byteLimit`` does not apply.
    public func stream(
        _ request: TransportRequest, for target: AccessTarget? = nil, idleTimeout: Duration = .seconds(300)
    ) async throws(SessionError) -> StreamedResponse {
        try await response(to: request, for: target, by: Self.streaming(idleTimeout)).response
    }

    /// The way to send a request whose response arrives while the program reads it.
    static func streaming(_ idleTimeout: Duration) -> Sending<StreamedResponse> {
        { client, request throws(ResourceClient.Failure) in
            try await client.stream(request, idleTimeout: idleTimeout)
        }
    }

    /// The way to send a request whose response is read wholly.
    static var sending: Sending<TransportResponse> {
        { client, request throws(ResourceClient.Failure) in try await client.send(request) }
    }

    /// A way to send a request with a client.
    typealias Sending<Response> =
        @Sendable (
            ResourceClient, TransportRequest
        ) async throws(ResourceClient.Failure) -> Response

    /// Sends a request; returns the response and the credentials with which it was sent.
    ///
    /// Throws ``SessionError/notSignedIn(_:found:)`` if `user` is not nil and another user is signed in now.
    func response<Response: HeadedResponse>(
        to request: TransportRequest, of user: Credentials? = nil, for target: AccessTarget?, by send: Sending<Response>
    ) async throws(SessionError) -> (response: Response, credentials: Credentials) {
        let credentials = try await credentials(for: target)
        if let user, !credentials.isOfSameUser(as: user) {
            throw .notSignedIn(profile, found: StoredSignIn(TokenRecord(credentials)))
        }
        let response = try await call(request, with: credentials, by: send)
        // A refresh does not satisfy a challenge that demands another sign-in or more scopes.
        guard response.head.status == .unauthorized, credentials.isRefreshable,
            StepUp(demandedBy: response.head) == nil
        else {
            return (response, credentials)
        }
        let fresh = try await refreshed(replacing: credentials.accessToken, for: target)
        // The request was made for the user of the first token.
        guard fresh.isOfSameUser(as: credentials), request.body.isRepeatable else { return (response, credentials) }
        return (try await call(request, with: fresh, by: send), fresh)
    }

    /// Sends a request to an API with the access token of some credentials.
    private func call<Response: HeadedResponse>(
        _ request: TransportRequest, with credentials: Credentials, by send: Sending<Response>
    ) async throws(SessionError) -> Response {
        switch origins {
        case .these(let origins): return try await call(request, with: credentials, at: origins, by: send)
        case .storedOrFirst where credentials.namesNoAPI:
            let origin = APIOrigin(of: request.endpoint)
            // Without a store that can be written, the token would go to another origin with each call.
            do { try await store.checkWritable(profile) } catch { throw .store(error) }
            let response = try await call(request, with: credentials, at: [origin], by: send)
            if (200..<300).contains(response.head.status.code) { await remember(origin, for: credentials) }
            return response
        case .stored, .storedOrFirst:
            return try await call(request, with: credentials, at: credentials.allowedOrigins, by: send)
        }
    }

    private func call<Response: HeadedResponse>(
        _ request: TransportRequest, with credentials: Credentials, at origins: Set<APIOrigin>,
        by send: Sending<Response>
    ) async throws(SessionError) -> Response {
        do {
            return try await send(ResourceClient(credentials, origins: origins, transport: transport), request)
        } catch {
            switch error {
            case .refused(let refusal): throw .refused(refusal)
            case .noResponse(.cancelled): throw .cancelled
            case .noResponse(let failure): throw .noResponse(failure)
            }
        }
    }

    /// Stores the only origin to which the access token is sent from now on.
    ///
    /// A failure is not thrown, because the API has done what the request asks for: the response must not be lost.
    private func remember(_ origin: APIOrigin, for credentials: Credentials) async {
        do {
            try await store.update(profile) { kept in
                guard let kept = kept.record, kept.credentials.hasSameHolder(as: credentials),
                    kept.credentials.namesNoAPI
                else { return .keep }
                var named = kept.credentials
                named.apiOrigins = [origin]
                return .put(TokenRecord(named, refreshIntent: kept.refreshIntent))
            }
            originSaveError = nil
        } catch { originSaveError = error }
    }
}
