public import CounterfoilProtocol
import CounterfoilTokens
public import HTTPTypes

/// What an API asks for beyond the token that it was given.
///
/// `insufficient_scope` (RFC 6750 §3.1) asks for permissions, `insufficient_user_authentication` (RFC 9470 §3) for a stronger
/// or a more recent sign-in. No refresh brings either: the person is asked again.
public struct StepUp: Sendable, Hashable {
    /// The permissions that it wants; empty when it names none.
    public let scope: Scope
    /// `acr_values`: the ways of signing in of which one would do, the best first.
    public let authenticationContexts: [String]
    /// `max_age`: the longest time since the person signed in, in seconds; nil when it does not matter.
    public let maxAge: Int?

    /// Reads the answer of an API; nil when it does not ask for more.
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
    /// Prepares a sign-in that asks for what some credentials have and for what an API wants besides.
    ///
    /// MCP authorization, Scope: the union, so that nothing that was allowed is lost.
    public init(steppingUp credentials: Credentials, to demand: StepUp) {
        // Servers that leave openid out of the scope of an answer still name the person only when it is asked for.
        let known = credentials.person == nil ? Scope() : Scope([.openID])
        let scope = credentials.scope.union(known).union(demand.scope)
        if let vendor = credentials.server {
            self.init(at: vendor, clientID: credentials.clientID, scope: scope)
        } else {
            self.init(issuer: credentials.issuer, clientID: credentials.clientID, scope: scope)
            // The sign-in before has settled whether the server does PKCE.
            skippingPKCEMetadataCheck = true
        }
        options.authenticationContexts = demand.authenticationContexts
        options.maxAge = demand.maxAge
        options.resources = credentials.resources
        options.authentication = credentials.authentication
        options.bindsTokens = credentials.proofKey != nil
        // A token that is bound to the former key does not serve with the new one.
        options.hasRefreshToken = credentials.refreshToken != nil && credentials.proofKey == nil
    }
}

extension TokenSession {
    /// How often the person is asked for one request: once for permissions and once for a sign-in.
    private static let stepUpLimit = 2

    /// Sends a request to an API, and lets the person sign in again where the API asks for more than the token has.
    ///
    /// `signIn` gets a sign-in that asks for it, and runs it. What that gives takes the place of the session's credentials, if
    /// it is the same person, as `openid` tells, and nobody signed in or out meanwhile; otherwise the server is told that it is
    /// not needed. Then the request is repeated. The API chooses what is asked for: look at ``NativeSignIn/scope``. The person
    /// is asked at most twice, and never twice for the same: an API that is still not content has its answer returned.
    public func send(
        _ url: String,
        method: HTTPRequest.Method = .get,
        headerFields: HTTPFields = [:],
        body: [UInt8] = [],
        byteLimit: Int = 64 * 1024 * 1024,
        timeout: Duration = .seconds(300),
        steppingUp signIn: @Sendable (NativeSignIn) async throws -> Credentials
    ) async throws -> TransportResponse {
        var demands: Set<StepUp> = []
        while true {
            let answer = try await send(
                url, method: method, headerFields: headerFields, body: body, byteLimit: byteLimit, timeout: timeout)
            guard let demand = StepUp(demandedBy: answer), demands.count < Self.stepUpLimit,
                demands.insert(demand).inserted
            else { return answer }
            let former = try await credentials()
            let fresh = try await signIn(NativeSignIn(steppingUp: former, to: demand))
            // Somebody else's token must not come into a session by a wish of an API.
            guard fresh.hasSameHolder(as: former) else {
                await discard(fresh)
                throw SignInError.unsafe(.idToken(.invalidClaim("sub")))
            }
            try await adopt(fresh, inPlaceOf: former)
        }
    }
}
