public import CounterfoilProtocol
import CounterfoilTokens
public import HTTPTypes

/// The demand of an API for more scopes or a better authentication than those of the access token.
///
/// `insufficient_scope` (RFC 6750 §3.1) demands more scopes. `insufficient_user_authentication` (RFC 9470
/// §3) demands a stronger or more recent authentication. A refresh provides neither: the user has to sign
/// in again.
public struct StepUp: Sendable, Hashable {
    /// The demanded scope; empty if the API names none.
    public let scope: Scope
    /// `acr_values`: acceptable authentication contexts in order of preference.
    public let authenticationContexts: [String]
    /// `max_age`: the maximum time since the user authenticated, in seconds; nil if there is no limit.
    public let maxAge: Int?

    /// Parses the challenges in the response of an API; nil if none of them contains such a demand.
    public init?(demandedBy response: TransportResponse) { self.init(demandedBy: response.head) }

    /// Parses the challenges in the head of a response of an API; nil if none of them contains such a demand.
    public init?(demandedBy head: HTTPResponse) {
        let challenges = head.headerFields[values: .wwwAuthenticate]
            .flatMap(AuthenticationChallenge.list)
            .filter { $0.scheme == "bearer" || $0.scheme == "dpop" }
        for challenge in challenges {
            switch (challenge["error"], head.status.code) {
            case ("insufficient_scope", 401), ("insufficient_scope", 403):
                scope = challenge["scope"].flatMap { try? Scope(lenient: $0) } ?? Scope()
                (authenticationContexts, maxAge) = ([], nil)
                return
            case ("insufficient_user_authentication", 401):
                scope = challenge["scope"].flatMap { try? Scope(lenient: $0) } ?? Scope()
                let contexts = (challenge["acr_values"] ?? "").split(separator: " ").prefix(20)
                authenticationContexts = contexts.map { String($0) }
                maxAge = challenge["max_age"].flatMap { Int($0) }.flatMap { (0...315_360_000).contains($0) ? $0 : nil }
                return
            default: continue
            }
        }
        return nil
    }
}

extension StepUp: CustomStringConvertible {
    /// A description of what the user is asked for, such as `a sign-in of the last 10 minutes`, safe to show to users.
    public var description: String {
        var parts = scope.isEmpty ? [] : ["more permissions: \(scope)"]
        if !authenticationContexts.isEmpty {
            let named = authenticationContexts.prefix(4).map { "\(SpokenContext($0))" }
            let more = authenticationContexts.count > named.count ? ["another one"] : []
            parts.append("a stronger sign-in: " + (named + more).joined(separator: " or "))
        }
        if let maxAge {
            parts.append(maxAge == 0 ? "a new sign-in" : "a sign-in of the last \(SpokenDuration(seconds: maxAge))")
        }
        guard !parts.isEmpty else { return "more permissions, or a stronger or newer sign-in" }
        return parts.joined(separator: ", and ")
    }
}

extension NativeSignIn {
    /// Prepares a sign-in that fulfils the demand of an API and keeps the scope of `credentials`.
    ///
    /// Model Context Protocol, Authorization, Scope: the sign-in requests the union of the granted scope and the
    /// demanded scope, so that no granted scope is lost.
    public init(steppingUp credentials: Credentials, to demand: StepUp) {
        // Some servers omit `openid` from the granted scope, but issue an ID token only if `openid` is requested.
        let known = credentials.user == nil ? Scope() : Scope([.openID])
        let scope = credentials.scope.union(known).union(demand.scope)
        if let vendor = credentials.server {
            self.init(at: vendor, clientID: credentials.clientID, scope: scope)
        } else {
            self.init(issuer: credentials.issuer, clientID: credentials.clientID, scope: scope)
            // The previous sign-in has already checked the metadata for PKCE.
            skippingPKCEMetadataCheck = true
        }
        self.demand = demand
        options.authenticationContexts = demand.authenticationContexts
        options.maxAge = demand.maxAge
        options.resources = credentials.resources
        options.apiOrigins = credentials.apiOrigins
        options.tokenParameters = credentials.tokenParameters
        options.details = credentials.detailNames
        options.authentication = credentials.authentication
        options.bindsTokens = credentials.proofKey != nil
        // The new sign-in generates a new DPoP key. A refresh token that is bound to the former key does not
        // count, so the request asks for a new refresh token.
        options.hasRefreshToken = credentials.refreshToken != nil && credentials.proofKey == nil
    }
}

extension TokenSession {
    /// The maximum number of sign-ins for one request: one for more scopes and one for a better authentication.
    private static let stepUpLimit = 2

    /// Sends a request to an API, and lets the user sign in again if the API demands more than the token grants.
    ///
    /// `signIn` receives the prepared sign-in and runs it. The new credentials replace the credentials of the
    /// session, and the request is sent again. The new credentials are revoked if their ID token names another
    /// user. They are also revoked if another user signed in or the session ended meanwhile.
    ///
    /// The function throws ``SessionError/store(_:)`` before the sign-in if the store cannot be written, and
    /// ``SessionError/notStored(_:_:)`` with the new credentials if that changes meanwhile.
    ///
    /// The API determines the additional scope, so check ``NativeSignIn/scope`` before you run the sign-in, and tell
    /// the user what the API requires (``NativeSignIn/demand``). `acr_values` is a preference, so the new sign-in may
    /// be weaker than that (``Credentials/User/authenticationContext``).
    ///
    /// The user signs in at most twice, and never twice for the same demand. If the API still demands more, or the body
    /// of the request can be sent only once (``RequestBody/isRepeatable``), the function returns its response.
    public func send(
        _ request: TransportRequest, for target: AccessTarget? = nil,
        steppingUp signIn: @Sendable (NativeSignIn) async throws -> Credentials
    ) async throws -> TransportResponse {
        try await response(to: request, for: target, steppingUp: signIn, by: Self.sending)
    }

    /// Sends a request to an API as ``send(_:for:steppingUp:)`` does, and returns when the head of the response has
    /// arrived.
    ///
    /// The time limits are those of ``stream(_:for:idleTimeout:)``.
    public func stream(
        _ request: TransportRequest, for target: AccessTarget? = nil, idleTimeout: Duration = .seconds(300),
        steppingUp signIn: @Sendable (NativeSignIn) async throws -> Credentials
    ) async throws -> StreamedResponse {
        try await response(to: request, for: target, steppingUp: signIn, by: Self.streaming(idleTimeout))
    }

    private func response<Response: HeadedResponse>(
        to request: TransportRequest, for target: AccessTarget?,
        steppingUp signIn: @Sendable (NativeSignIn) async throws -> Credentials,
        by send: Sending<Response>
    ) async throws -> Response {
        var demands: Set<StepUp> = []
        var first: Credentials?
        while true {
            // The request is that of the user whose token was sent first.
            let (response, sent) = try await self.response(to: request, of: first, for: target, by: send)
            guard let demand = StepUp(demandedBy: response.head), request.body.isRepeatable,
                demands.count < Self.stepUpLimit, demands.insert(demand).inserted
            else { return response }
            first = sent
            // The user signs in again for the whole sign-in, not only for the target.
            let former = sent.target == nil ? sent : try await presentCredentials()
            guard former.isOfSameUser(as: sent) else { return response }
            // The tokens of a sign-in that cannot be stored would be lost.
            do { try await store.checkWritable(profile) } catch { throw SessionError.store(error) }
            let fresh = try await signIn(NativeSignIn(steppingUp: former, to: demand))
            // The demand of an API must not lead to a session that uses the tokens of another user.
            guard fresh.hasSameHolder(as: former) else {
                await discard(fresh)
                throw SignInError.unsafe(.idToken(.wrongSubject))
            }
            try await replace(former, by: fresh)
        }
    }
}
