@_spi(Counterfoil) public import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes

/// An authorization server with an API, for tests, which listens on a local port, follows a script,
/// and records every request.
///
/// Without a script, it is a small server without deviations from the standards. It supports metadata,
/// authorization with PKCE, the grant types authorization code, refresh token, device code and client
/// credentials, and refresh token rotation. Authorization requests are answered at once, as if a signed-in
/// user had allowed them. The server also supports ID tokens with real signatures, UserInfo, keys, pushed
/// authorization requests, registration, revocation, sign-out and DPoP. The API accepts the access tokens
/// of the server.
///
///     try await ScriptedAuthorizationServer.run(ServerScript(.rotatesAndDropsTheReply)) { server in
///         let signIn = try NativeSignIn(issuer: server.issuer, clientID: "lightbox", scope: "openid")
///         …
///         #expect(server.requests(to: .token).count == 1)
///     }
///
/// The server listens on loopback until `run` returns. It is for tests only, because it authenticates no user.
public final class ScriptedAuthorizationServer: Sendable {
    /// The error that is thrown if the expected requests do not arrive in time.
    public struct TimedOut: Error, CustomStringConvertible {
        /// The number of expected requests, the number of received ones, and the time limit.
        public let description: String
    }

    /// The URL on which the server listens, such as `http://127.0.0.1:PORT`.
    public let address: String
    private let bareIssuer: Issuer
    private let state: Mutex<MiniatureServer>
    private let vault: Vault
    private let record = RequestRecord()
    private let now: @Sendable () -> Date

    init(
        address: String, script: ServerScript, vault: Vault, now: @escaping @Sendable () -> Date
    ) throws {
        bareIssuer = try Issuer(address)
        self.address = address
        state = Mutex(try MiniatureServer(script: script, address: address))
        self.vault = vault
        self.now = now
    }

    /// The script; a change takes effect with the next request.
    public var script: ServerScript {
        get { state.withLock { $0.script } }
        set { state.withLock { $0.script = newValue } }
    }

    /// Changes the script; the change takes effect with the next request.
    public func change(_ change: (inout ServerScript) -> Void) { state.withLock { change(&$0.script) } }

    /// The origin of every URL that the server publishes: ``ServerScript/publicOrigin`` if it is
    /// set, otherwise ``address``.
    public var origin: String { state.withLock { $0.origin } }

    /// The issuer to configure in the client: ``origin`` followed by ``ServerScript/issuerPath``.
    ///
    /// The script can let the server publish a different issuer.
    public var issuer: Issuer { (try? Issuer(ofServer: origin + script.issuerPath)) ?? bareIssuer }

    /// The issuer that the server publishes in its metadata, responses and tokens (``ServerScript/issuer``).
    public var publishedIssuer: String { state.withLock { $0.issuer } }

    /// Returns the URL of an endpoint, which starts with ``origin``.
    public func url(of endpoint: ScriptedEndpoint) -> String {
        state.withLock { $0.url(of: endpoint) }
    }

    /// The received requests, oldest first.
    ///
    /// The server keeps at most 10 000 requests. At this limit, it drops the oldest 1 000 requests.
    public var requests: [RecordedRequest] { record.requests }

    /// Returns the requests to one endpoint, oldest first.
    public func requests(to endpoint: ScriptedEndpoint) -> [RecordedRequest] {
        requests.filter { $0.endpoint == endpoint }
    }

    /// Waits for at least `count` requests to one endpoint, and returns all requests to it.
    ///
    /// - Throws: ``TimedOut`` if the requests do not arrive within `limit`.
    public func requests(
        to endpoint: ScriptedEndpoint, atLeast count: Int, within limit: Duration = .seconds(30)
    ) async throws -> [RecordedRequest] {
        try await requests(atLeast: count, within: limit) { $0.endpoint == endpoint }
    }

    /// Waits for at least `count` requests for which `isWanted` returns true, and returns all of them.
    ///
    /// - Throws: ``TimedOut`` if the requests do not arrive within `limit`.
    public func requests(
        atLeast count: Int, within limit: Duration = .seconds(30),
        where isWanted: @escaping @Sendable (RecordedRequest) -> Bool
    ) async throws -> [RecordedRequest] {
        try await withThrowingTaskGroup(of: [RecordedRequest].self) { group in
            group.addTask { [record] in try await record.requests(atLeast: count, where: isWanted) }
            group.addTask { [record] in
                try await Task.sleep(for: limit)
                let arrived = record.requests.count { isWanted($0) }
                throw TimedOut(description: "\(count) requests were waited for, and \(arrived) came within \(limit)")
            }
            defer { group.cancelAll() }
            guard let found = try await group.next() else { throw CancellationError() }
            return found
        }
    }

    /// Deletes the recorded requests, so that ``requests`` is empty until the next request.
    public func forgetRequests() { record.removeAll() }

    /// The codes, tokens, code verifiers and secrets that the servers of this run have sent or received.
    ///
    /// A test can check that a log contains none of these values. The set contains at most 10 000 values,
    /// and in addition the client secret of this server.
    public var secrets: Set<String> {
        vault.contents.withLock { $0.secrets }.union([script.clients.secret])
    }

    /// The access tokens that the servers of this run have issued, oldest first; only the last 2000 are kept.
    public var accessTokens: [String] { vault.contents.withLock { $0.accessTokens.names } }

    /// The refresh tokens that the servers of this run have issued, oldest first; only the last 2000 are kept.
    public var refreshTokens: [String] { vault.contents.withLock { $0.refreshTokens.names } }

    /// Expires every access token; refresh tokens stay valid.
    public func expireAccessTokens() { vault.contents.withLock { $0.expireAccessTokens() } }

    /// Revokes every code and every token, as if the user had withdrawn all consent.
    public func revokeEverything() { vault.contents.withLock { $0.revokeEverything() } }

    /// Deletes the clients of the registration endpoint, as servers do that keep them for a limited time.
    ///
    /// Set ``ClientScript/known`` too; otherwise the server accepts every client identifier.
    public func forgetRegistrations() {
        vault.contents.withLock { contents in
            for name in contents.registrations.names { contents.registrations[name] = nil }
        }
    }

    /// Answers a request and records it.
    func answer(to head: HTTPRequest, body: [UInt8]) throws -> ScriptedAnswer {
        let time = now()
        let path = String((head.path ?? "").prefix { $0 != "?" })
        let request = RecordedRequest(
            endpoint: state.withLock { $0.endpoint(at: path) }, time: time, head: head, body: body)
        let answer = try state.withLock { server in
            try vault.contents.withLock { try server.answer(request, from: &$0, at: time) }
        }
        // The request is recorded only after it has taken effect, because a test that waits for the request
        // may rely on the effect.
        record.append(request)
        return answer
    }

    func setSibling(_ origin: String) { state.withLock { $0.sibling = origin } }
}
