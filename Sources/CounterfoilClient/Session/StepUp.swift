public import CounterfoilProtocol
import CounterfoilTokens
import HTTPTypes

/// The demand of an API for more than the access token grants.
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

    /// Parses the response of an API; nil if it does not demand more.
    public init?(demandedBy response: TransportResponse) {
        let challenges = response.head.headerFields[values: .wwwAuthenticate]
            .flatMap(AuthenticationChallenge.list)
            .filter { $0.scheme == "bearer" || $0.scheme == "dpop" }
        for challenge in challenges {
            switch (challenge["error"], response.statusCode) {
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

extension NativeSignIn {
    /// Prepares a sign-in that requests the scope of some credentials and the demand of an API.
    ///
    /// MCP authorization, Scope: it requests the union, so that no granted scope is lost.
    public init(steppingUp credentials: Credentials, to demand: StepUp) {
        // Some servers omit `openid` from the scope of a response, but identify the user only if it is requested.
        let known = credentials.user == nil ? Scope() : Scope([.openID])
        let scope = credentials.scope.union(known).union(demand.scope)
        if let vendor = credentials.server {
            self.init(at: vendor, clientID: credentials.clientID, scope: scope)
        } else {
            self.init(issuer: credentials.issuer, clientID: credentials.clientID, scope: scope)
            // The previous sign-in has already decided about PKCE.
            skippingPKCEMetadataCheck = true
        }
        options.authenticationContexts = demand.authenticationContexts
        options.maxAge = demand.maxAge
        options.resources = credentials.resources
        options.authentication = credentials.authentication
        options.bindsTokens = credentials.proofKey != nil
        // A refresh token that is bound to the former key is useless with the new key.
        options.hasRefreshToken = credentials.refreshToken != nil && credentials.proofKey == nil
    }
}

extension TokenSession {
    /// The maximum number of sign-ins for one request: one for scopes and one for the authentication.
    private static let stepUpLimit = 2

    /// Sends a request to an API, and lets the user sign in again if the API demands more than the token grants.
    ///
    /// `signIn` receives the prepared sign-in and runs it. The new credentials replace those of the
    /// session, and the request is sent again. If they belong to another user, according to `openid`,
    /// they are revoked. They are also revoked if the session changed its user or ended meanwhile.
    ///
    /// The API chooses the requested scope: check ``NativeSignIn/scope`` first. The user signs in at most
    /// twice, and never twice for the same demand. If the API then demands more, its response is
    /// returned.
    public func send(
        _ request: TransportRequest,
        steppingUp signIn: @Sendable (NativeSignIn) async throws -> Credentials
    ) async throws -> TransportResponse {
        var demands: Set<StepUp> = []
        while true {
            let response = try await send(request)
            guard let demand = StepUp(demandedBy: response), demands.count < Self.stepUpLimit,
                demands.insert(demand).inserted
            else { return response }
            let former = try await credentials()
            let fresh = try await signIn(NativeSignIn(steppingUp: former, to: demand))
            // An API must not be able to bring the token of another user into a session.
            guard fresh.hasSameHolder(as: former) else {
                await discard(fresh)
                throw SignInError.unsafe(.idToken(.invalidClaim("sub")))
            }
            try await adopt(fresh, inPlaceOf: former)
        }
    }
}
