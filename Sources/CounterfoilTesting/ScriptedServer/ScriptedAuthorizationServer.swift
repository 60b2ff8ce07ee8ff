public import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes
import Synchronization

/// An authorization server and an API on a real port of this device that do what a script says, and write down all that
/// they are asked.
///
/// Without a script it is a small honest server: metadata, authorization with PKCE (a scripted person answers at once),
/// every common grant, refresh with rotation, ID tokens with real signatures, userinfo, keys, pushed authorization,
/// device sign-in, registration, revocation, sign-out, DPoP, and an API that takes its tokens.
///
///     try await ScriptedAuthorizationServer.run(ServerScript(.rotatesAndDropsTheReply)) { server in
///         let signIn = try NativeSignIn(issuer: server.issuer, clientID: "lightbox", scope: "openid")
///         …
///         #expect(server.requests(to: .token).count == 1)
///     }
///
/// It listens on 127.0.0.1 and is gone when `run` returns. It is for tests: it proves nothing about the person.
public final class ScriptedAuthorizationServer: Sendable {
    /// Nothing came in time.
    public struct TimedOut: Error, CustomStringConvertible {
        /// What was waited for.
        public let description: String
    }

    /// Where it listens: `http://127.0.0.1:PORT`.
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

    /// What the server does; a change counts from the next request on.
    public var script: ServerScript {
        get { state.withLock { $0.script } }
        set { state.withLock { $0.script = newValue } }
    }

    /// Changes what the server does from the next request on.
    public func change(_ change: (inout ServerScript) -> Void) { state.withLock { change(&$0.script) } }

    /// The origin of every address that it gives: ``address`` unless its script says otherwise.
    public var origin: String { state.withLock { $0.origin } }

    /// The issuer that a client is given to begin with: origin and path, whatever the server calls itself.
    public var issuer: Issuer { (try? Issuer(ofServer: origin + script.issuerPath)) ?? bareIssuer }

    /// The address of an endpoint.
    public func url(of endpoint: ScriptedEndpoint) -> String {
        state.withLock { $0.url(of: endpoint) }
    }

    /// Every request that arrived, oldest first; the last 10 000 are kept.
    public var requests: [RecordedRequest] { record.requests }

    /// The requests to one endpoint, oldest first.
    public func requests(to endpoint: ScriptedEndpoint) -> [RecordedRequest] {
        requests.filter { $0.endpoint == endpoint }
    }

    /// The requests to one endpoint, as soon as there are so many.
    public func requests(
        to endpoint: ScriptedEndpoint, atLeast count: Int, within limit: Duration = .seconds(30)
    ) async throws -> [RecordedRequest] {
        try await requests(atLeast: count, within: limit) { $0.endpoint == endpoint }
    }

    /// The requests that a condition holds for, as soon as there are so many.
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

    /// Forgets the requests so far.
    public func forgetRequests() { record.removeAll() }

    /// Every code, token, verifier and secret that this server and its sibling gave or were given: what no log may hold.
    public var secrets: Set<String> {
        vault.contents.withLock { $0.secrets }.union([script.clients.secret])
    }

    /// The access tokens that this server and its sibling gave, oldest first; the last 2000 are kept.
    public var accessTokens: [String] { vault.contents.withLock { $0.accessTokens.names } }

    /// The refresh tokens that this server and its sibling gave, oldest first; the last 2000 are kept.
    public var refreshTokens: [String] { vault.contents.withLock { $0.refreshTokens.names } }

    /// Ends every access token, as if its time were over; refresh tokens stay.
    public func expireAccessTokens() { vault.contents.withLock { $0.expireAccessTokens() } }

    /// Ends every token of every kind, as if the person had withdrawn everything.
    public func revokeEverything() { vault.contents.withLock { $0.revokeEverything() } }

    /// Writes a request down and says what to answer.
    func answer(to head: HTTPRequest, body: [UInt8]) throws -> ScriptedAnswer {
        let time = now()
        let path = String((head.path ?? "").prefix { $0 != "?" })
        let request = RecordedRequest(
            endpoint: state.withLock { $0.endpoint(at: path) }, time: time, head: head, body: body)
        let answer = try state.withLock { server in
            try vault.contents.withLock { try server.answer(request, from: &$0, at: time) }
        }
        // Who waits for a request may rely on its effect.
        record.append(request)
        return answer
    }

    func setSibling(_ origin: String) { state.withLock { $0.sibling = origin } }
}
