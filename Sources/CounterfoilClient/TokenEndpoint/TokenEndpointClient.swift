import CounterfoilPlatform
import CounterfoilProtocol
import CounterfoilTokens
import HTTPTypes

/// A sender of one client's requests to the token endpoint of one server.
///
/// RFC 6749 §3.2. The client sends these requests directly to the server, and never through the browser
/// (RFC 6749 §4.1.3).
struct TokenEndpointClient: Sendable {
    var server: AuthorizationServerConfiguration
    let clientID: ClientIdentifier
    let authentication: ClientAuthentication
    /// The sender of DPoP proofs; nil for Bearer tokens.
    let prover: DPoPProver?
    let transport: any HTTPTransport

    /// The tokens in a response, and the facts that are needed to verify and store them.
    struct IssuedTokens: Sendable {
        let tokens: TokenResponse
        let details: [String: String]
        /// The names of the optional members that count as absent because their values are not valid.
        let ignored: [String]
        /// The client authentication that the server accepted.
        let authentication: ClientAuthentication
        /// The time of the response by the server's clock; nil if the response does not show it.
        let serverDate: Date?
        /// The time at which the response arrived, by this device's clock.
        let received = Date()

        /// Returns the time of the response, which arrived at `received` by this device's clock.
        func time(at received: Date) -> ResponseTime { ResponseTime(received: received, serverDate: serverDate) }

        /// Returns the expiration of the access token, which arrived at `received`; nil if the server did not send it.
        func expires(from received: Date) -> Date? {
            tokens.expiresIn.map { received.addingTimeInterval(TimeInterval($0)) }
        }

        /// Returns the credentials of the client to which a server issued the tokens.
        ///
        /// `scope` is the requested scope, and `key` the one to which the tokens are bound. Without a user, the
        /// credentials contain no ID token, because it was not verified.
        func credentials(
            of clientID: ClientIdentifier, at server: AuthorizationServerConfiguration, scope: Scope,
            resources: [Resource], user: Credentials.User? = nil, key: ProofKey?, time: ResponseTime
        ) -> Credentials {
            Credentials(
                issuer: server.issuer, clientID: clientID, scope: tokens.scope ?? scope,
                accessToken: tokens.accessToken, expires: expires(from: time.received), user: user,
                refreshToken: tokens.refreshToken, idToken: user == nil ? nil : tokens.idToken, resources: resources,
                details: details, authentication: authentication, proofKey: key, server: server.vendor,
                received: time.received, clockOffset: time.difference)
        }

        /// Returns the ID token; throws if the response has none, although the client requested `openid`.
        func requiredIDToken() throws(SignInError) -> IDToken {
            if let token = tokens.idToken { return token }
            let isMalformed = ignored.contains("id_token")
            throw .unsafe(isMalformed ? .idToken(.malformed(.serialization)) : .tokenResponse(.noIDToken))
        }
    }

    /// A response that lets the sign-in continue; every other response is thrown as an error.
    enum Outcome: Sendable {
        case tokens(IssuedTokens)
        /// A response to a refresh with an access token that the client must not use, for the reason in the error.
        ///
        /// The refresh token in it, if there is one, replaces the one that was sent (RFC 6749 §6).
        case unusableAccessToken(RefreshToken?, SignInError)
        /// The server refers the client to another server of the vendor, where the user's account is.
        ///
        /// The response only names the other server, for example by a region. The vendor profile contains the origin
        /// for that name. A caller that cannot continue there throws the error.
        case otherServer(origin: String, OAuthError)
    }

    /// Sends a token request and returns the tokens; throws if their type is not supported.
    ///
    /// The request is sent a second time only if the server rejects the DPoP proof and a new proof can succeed.
    func tokens(for request: TokenRequest) async throws(SignInError) -> IssuedTokens {
        var isRefresh = false
        if case .refreshToken = request { isRefresh = true }
        return try await tokens(for: request.parameters, isRefresh: isRefresh)
    }

    /// Sends the parameters of any grant, with the same rules as `tokens(for:)`.
    func tokens(for request: FormParameters, isRefresh: Bool) async throws(SignInError) -> IssuedTokens {
        switch try await outcome(of: request, isRefresh: isRefresh) {
        case .tokens(let issued): return issued
        case .unusableAccessToken(_, let error): throw error
        case .otherServer(_, let error): throw SignInError(error)
        }
    }

    /// Sends the parameters of any grant, for callers that can continue at another server of the vendor.
    ///
    /// If the client may authenticate by several methods, the function tries the next one after `invalid_client`.
    func outcome(of request: FormParameters, isRefresh: Bool) async throws(SignInError) -> Outcome {
        let methods = authentication.candidates(at: server)
        for method in methods.dropLast() {
            do throws(SignInError) { return try await outcome(of: request, by: method, isRefresh: isRefresh) } catch {
                guard case .refused(let refusal) = error, refusal.code == .invalidClient else { throw error }
            }
        }
        return try await outcome(of: request, by: methods.last ?? authentication, isRefresh: isRefresh)
    }

    private func outcome(
        of request: FormParameters, by method: ClientAuthentication, isRefresh: Bool
    ) async throws(SignInError) -> Outcome {
        let endpoint = server.tokenEndpoint
        let response = try await method.send(at: server.issuer) { () async throws(TransportFailure) in
            if let prover {
                try await prover.send(
                    try await message(request, by: method, isRefresh: isRefresh), through: transport)
            } else {
                try await transport.send(try await message(request, by: method, isRefresh: isRefresh))
            }
        }

        // Some servers send errors with status 200, so the body takes precedence over the status.
        let content = TokenEndpointResponse(parsing: response.body, of: server.behavior, isRefresh: isRefresh)
        let status = response.statusCode
        // The server may have moved the endpoint since its metadata were cached.
        if (300..<400).contains(status) || status == 404 || status == 410 {
            MetadataCache.ofThisProcess(for: transport)?.forget(server.issuer)
        }
        switch (status, content) {
        case (300..<400, _): throw .unsafe(.redirected(origin: endpoint.origin))
        case (_, .throttled(let error, let seconds)):
            throw .unavailable(.busy(error, retryAfter: response.retryAfter ?? .seconds(seconds)))
        // RFC 8628 §3.5: some servers send `slow_down` with status 429 instead of 400.
        case (429, .refusal(let error)) where error.code.rawValue == "slow_down": throw SignInError(error)
        case (500..<600, .refusal(let error)):
            throw .unavailable(.error(error, retryAfter: response.retryAfter))
        case (429, _), (500..<600, _):
            throw .unavailable(.status(status, origin: endpoint.origin, retryAfter: response.retryAfter))
        case (_, .refusal(let error)): throw SignInError(error)
        case (_, .otherServer(let error, let origin)): return .otherServer(origin: origin, error)
        case (200..<300, .tokens(let tokens, let details, let ignored)):
            let issued = IssuedTokens(
                tokens: tokens, details: details, ignored: ignored, authentication: method,
                serverDate: ServerClock.date(in: response))
            guard let refusal = refusal(of: tokens.tokenType.lowercased()) else { return .tokens(issued) }
            let error = SignInError.unsafe(.tokenResponse(refusal))
            if isRefresh { return .unusableAccessToken(tokens.refreshToken, error) }
            await revoke(tokens, by: method)
            throw error
        case (200..<300, .unusable(let refreshToken, let refusal)):
            return .unusableAccessToken(refreshToken, .unsafe(.tokenResponse(refusal)))
        case (200..<300, _): throw .unsafe(.tokenResponse(.unreadable))
        default: throw .unsafe(.tokenResponse(.unreadableRefusal(status)))
        }
    }

    /// Returns the reason why the client must not use a token of a type, in lower case; nil if it may.
    private func refusal(of type: String) -> TokenResponseRefusal? {
        // RFC 9449 §5: reject a token that is not bound to the key, because a thief could use it.
        if prover != nil { return type == "dpop" ? nil : .notBound }
        // RFC 6749 §7.1: a client must not use a token of an unknown type.
        let isKnown = type == "bearer" || server.behavior.tokenResponse.extraTokenTypes.contains(type)
        return isKnown ? nil : .unknownTokenType
    }

    /// Revokes tokens that the client discards (RFC 7009 §2); ignores a failure.
    private func revoke(_ tokens: TokenResponse, by method: ClientAuthentication) async {
        guard let endpoint = server.revocationEndpoint else { return }
        let pairs = [("refresh_token", tokens.refreshToken?.exposed), ("access_token", tokens.accessToken.exposed)]
        for case (let hint, let token?) in pairs {
            let form = FormParameters(["token": token, "token_type_hint": hint])
            _ = try? await EndpointRequest(form: form, of: clientID, by: method, at: server)
                .send(to: endpoint, through: transport)
        }
    }

    /// Creates the HTTP request, with new client authentication for each attempt.
    private func message(
        _ request: FormParameters, by method: ClientAuthentication, isRefresh: Bool
    ) async throws(TransportFailure) -> TransportRequest {
        var form = request
        for (name, value) in server.behavior.tokenParameters.sorted(by: { $0.key < $1.key })
        where form.all(name).isEmpty {
            form.append(name, value)
        }
        var fields: HTTPFields = [
            .contentType: "application/x-www-form-urlencoded", .accept: "application/json",
        ]
        let authentication = isRefresh && !server.behavior.sendsSecretOnRefresh ? ClientAuthentication.none : method
        try await authentication.apply(to: &form, headerFields: &fields, clientID: clientID, at: server)
        return TransportRequest(
            server.tokenEndpoint, method: .post, headerFields: fields, body: RequestBody(form.encoded.utf8))
    }
}
