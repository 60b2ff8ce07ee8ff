public import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes
import Synchronization

/// An authorization server and an API for tests, on a real port, that follow a script and record every
/// request.
///
/// Without a script it is a small correct server. It supports metadata, authorization with PKCE (a scripted
/// user answers at once), every common grant, and refresh token rotation. It also supports ID tokens with
/// real signatures, UserInfo, keys, pushed authorization requests, device sign-in, registration,
/// revocation, sign-out and DPoP. Its API accepts its tokens.
///
///     try await ScriptedAuthorizationServer.run(ServerScript(.rotatesAndDropsTheReply)) { server in
///         let signIn = try NativeSignIn(issuer: server.issuer, clientID: "lightbox", scope: "openid")
///         …
///         #expect(server.requests(to: .token).count == 1)
///     }
///
/// It listens on 127.0.0.1 until `run` returns. It is for tests only: it authenticates no user.
public final class ScriptedAuthorizationServer: Sendable {
    /// An error: the expected requests did not arrive in time.
    public struct TimedOut: Error, CustomStringConvertible {
        /// The number of expected and received requests, and the time limit.
        public let description: String
    }

    /// The URL on which the server listens: `http://127.0.0.1:PORT`.
    public let address: String
    private let bareIssuer: Issuer
    private let state: Mutex<MiniatureServer>
    private let vault: Vault
    private let record = RequestRecord()
    private let now: @Sendable () -> Date

    init(
        port: Int, script: ServerScript, vault: Vault, now: @escaping @Sendable () -> Date
    ) throws {
        bareIssuer = try Issuer("http://127.0.0.1:\(port)")
        address = bareIssuer.origin
        state = Mutex(try MiniatureServer(script: script, address: address))
        self.vault = vault
        self.now = now
    }

    /// The script; a change applies from the next request on.
    public var script: ServerScript {
        get { state.withLock { $0.script } }
        set { state.withLock { $0.script = newValue } }
    }

    /// Changes the script, from the next request on.
    public func change(_ change: (inout ServerScript) -> Void) { state.withLock { change(&$0.script) } }

    /// The origin of every URL that the server publishes: ``address``, unless the script has a public
    /// origin.
    public var origin: String { state.withLock { $0.origin } }

    /// The issuer with which a client is configured: origin and path, whatever issuer the server publishes.
    public var issuer: Issuer { (try? Issuer(ofServer: origin + script.issuerPath)) ?? bareIssuer }

    /// Returns the URL of an endpoint.
    public func url(of endpoint: ScriptedEndpoint) -> String {
        state.withLock { $0.url(of: endpoint) }
    }

    /// The received requests, oldest first; of more than 10 000 the oldest are dropped, 1 000 at a time.
    public var requests: [RecordedRequest] { record.requests }

    /// Returns the requests to one endpoint, oldest first.
    public func requests(to endpoint: ScriptedEndpoint) -> [RecordedRequest] {
        requests.filter { $0.endpoint == endpoint }
    }

    /// Waits for at least `count` requests to one endpoint, and returns them.
    ///
    /// - Throws: ``TimedOut`` if they do not arrive within `limit`.
    public func requests(
        to endpoint: ScriptedEndpoint, atLeast count: Int, within limit: Duration = .seconds(30)
    ) async throws -> [RecordedRequest] {
        try await requests(atLeast: count, within: limit) { $0.endpoint == endpoint }
    }

    /// Waits for at least `count` requests that match, and returns them.
    ///
    /// - Throws: ``TimedOut`` if they do not arrive within `limit`.
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

    /// Deletes the recorded requests.
    public func forgetRequests() { record.removeAll() }

    /// Every code, token, code verifier and secret that this server and its sibling have sent or received.
    ///
    /// A log must contain none of them. The set holds at most 10 000 of them, and this server's client
    /// secret.
    public var secrets: Set<String> {
        vault.contents.withLock { $0.secrets }.union([script.clients.secret])
    }

    /// The access tokens issued by this server and its sibling, oldest first; the last 2000 are kept.
    public var accessTokens: [String] { vault.contents.withLock { $0.accessTokens.names } }

    /// The refresh tokens issued by this server and its sibling, oldest first; the last 2000 are kept.
    public var refreshTokens: [String] { vault.contents.withLock { $0.refreshTokens.names } }

    /// Expires every access token; refresh tokens stay valid.
    public func expireAccessTokens() { vault.contents.withLock { $0.expireAccessTokens() } }

    /// Revokes every code and every token, as if the user had withdrawn all consent.
    public func revokeEverything() { vault.contents.withLock { $0.revokeEverything() } }

    /// Answers a request and records it.
    func answer(to head: HTTPRequest, body: [UInt8]) throws -> ScriptedAnswer {
        let time = now()
        let path = String((head.path ?? "").prefix { $0 != "?" })
        let request = RecordedRequest(
            endpoint: state.withLock { $0.endpoint(at: path) }, time: time, head: head, body: body)
        let answer = try state.withLock { server in
            try vault.contents.withLock { try server.answer(request, from: &$0, at: time) }
        }
        // Recorded last, because a test that waits for a request may rely on its effect.
        record.append(request)
        return answer
    }

    func setSibling(_ origin: String) { state.withLock { $0.sibling = origin } }
}
