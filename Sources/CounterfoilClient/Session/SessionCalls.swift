extension TokenSession {
    /// Sends a GET request to an API with a fresh access token; returns the response, whatever its status.
    public func get(_ url: String) async throws(SessionError) -> TransportResponse {
        let request: TransportRequest
        do { request = try TransportRequest(api: url) } catch { throw .refused(error) }
        return try await send(request)
    }

    /// Sends a request to an API with a fresh access token; returns the response, whatever its status.
    ///
    /// If the API rejects the token (401), the session refreshes the token and repeats the request once, unless another
    /// user has signed in meanwhile. It throws if the token cannot be refreshed now, and returns the API's 401 if there
    /// is no refresh token. Other tasks can use the session while this task waits for the response.
    public func send(_ request: TransportRequest) async throws(SessionError) -> TransportResponse {
        try await response(to: request).response
    }

    /// Sends a request; returns the response and the credentials with which it was sent.
    ///
    /// Throws ``SessionError/notSignedIn(_:found:)`` if `user` is not nil and another user is signed in now.
    func response(
        to request: TransportRequest, of user: Credentials? = nil
    ) async throws(SessionError) -> (response: TransportResponse, credentials: Credentials) {
        let credentials = try await credentials()
        if let user, !credentials.isOfSameUser(as: user) {
            throw .notSignedIn(profile, found: StoredSignIn(TokenRecord(credentials)))
        }
        let response = try await call(request, with: credentials)
        // A refresh does not satisfy a challenge that demands another sign-in or more scopes.
        guard response.statusCode == 401, credentials.refreshToken != nil, StepUp(demandedBy: response) == nil else {
            return (response, credentials)
        }
        let fresh = try await refreshed(replacing: credentials.accessToken)
        // The request was made for the user of the first token.
        guard fresh.isOfSameUser(as: credentials) else { return (response, credentials) }
        return (try await call(request, with: fresh), fresh)
    }

    /// Sends a request to an API with the access token of some credentials.
    private func call(
        _ request: TransportRequest, with credentials: Credentials
    ) async throws(SessionError) -> TransportResponse {
        switch origins {
        case .these(let origins): return try await call(request, with: credentials, at: origins)
        case .storedOrFirst where credentials.namesNoAPI:
            let origin = APIOrigin(of: request.endpoint)
            let response = try await call(request, with: credentials, at: [origin])
            if (200..<300).contains(response.statusCode) { try await remember(origin, for: credentials) }
            return response
        case .stored, .storedOrFirst:
            return try await call(request, with: credentials, at: credentials.allowedOrigins)
        }
    }

    private func call(
        _ request: TransportRequest, with credentials: Credentials, at origins: Set<APIOrigin>
    ) async throws(SessionError) -> TransportResponse {
        do {
            return try await ResourceClient(credentials, origins: origins, transport: transport).send(request)
        } catch {
            switch error {
            case .refused(let refusal): throw .refused(refusal)
            case .noResponse(.cancelled): throw .cancelled
            case .noResponse(let failure): throw .noResponse(failure)
            }
        }
    }

    /// Stores the only origin to which the access token is sent from now on.
    private func remember(_ origin: APIOrigin, for credentials: Credentials) async throws(SessionError) {
        do {
            try await store.update(profile) { kept in
                guard let kept = kept.record, kept.credentials.hasSameHolder(as: credentials),
                    kept.credentials.namesNoAPI
                else { return .keep }
                var named = kept.credentials
                named.apiOrigins = [origin]
                return .put(TokenRecord(named, refreshIntent: kept.refreshIntent))
            }
        } catch { throw .store(error) }
    }
}
