import CounterfoilProtocol
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilWeb
import Foundation
import HTTPTypes
import NIOCore
import TestSupport
import Testing

@testable import CounterfoilServer
@testable @_spi(Counterfoil) import CounterfoilTokens

/// Back-channel logout to a real server of a client (OpenID Connect Back-Channel Logout 1.0).
@Suite(.timeLimit(.minutes(5)))
struct BackchannelLogoutTests {
    private static let address = "https://rp.example.net/backchannel?of=ours"

    /// A server that sends the notifications for `rp.example.net` to a local port, with a session of alice
    /// at that client.
    ///
    /// Only a test can redirect them: the program sends them to public addresses only, unless its operator
    /// allows a network.
    private struct SignedIn {
        let test: TestServer
        let client: RegisteredClient
        let idToken: IDToken
        var browser: ScriptedUserAgent

        init(port: Int, timeLimit: TimeAmount = .seconds(5)) async throws {
            test = try await TestServer(
                logoutSender: LogoutNoticePost(
                    OutboundClient(insecureLoopbackPort: port, timeLimit: timeLimit) { _ in [[127, 0, 0, 1]] }))
            var client = test.lightbox
            client.backchannelLogoutURI = try AbsoluteURI(parsing: BackchannelLogoutTests.address)
            #expect(try await test.store.updateClient(client, logo: .keep) == .updated)
            self.client = client
            browser = test.browser()
            let verifier = CodeVerifier()
            let redirectURI = "http://127.0.0.1:51004/callback"
            let request = FormParameters([
                "response_type": "code", "client_id": client.id.rawValue, "redirect_uri": redirectURI,
                "scope": "openid",
                "code_challenge": CodeChallenge(of: verifier).rawValue, "code_challenge_method": "S256",
            ])
            let reply = try await browser.authorize(
                test.issuer.endpoint("/oauth2/authorize") + "?" + request.encoded, username: "alice",
                password: TestServer.password)
            let tokens = try await test.redeem(
                FormParameters([
                    "grant_type": "authorization_code", "client_id": client.id.rawValue,
                    "code": try reply.code.exposed, "redirect_uri": redirectURI, "code_verifier": verifier.exposed,
                ])
            ).tokenResponse
            idToken = try #require(tokens.idToken)
        }

        /// Ends the session with a logout request of the client.
        mutating func signOut() async throws {
            let query = FormParameters(["id_token_hint": idToken.exposed]).encoded
            _ = try await browser.open("/oauth2/logout?" + query).signedOutPage
        }

        /// Sends the due notifications, and returns how many were attempted.
        func deliver() async throws -> Int { try await #require(test.server.logoutNotifier).deliverDue() }

        /// Verifies a logout token by its type and with the published keys, as a client does, and returns
        /// its claims.
        func verified(_ request: LogoutReceiver.Request) async throws -> [String: Any] {
            let form = try FormParameters(parsing: request.body)
            #expect(form.pairs.map(\.name) == ["logout_token"])
            let token = try #require(try form.single("logout_token"))
            let keys = try JSONWebKeySet(parsing: try await test.send(.get, to: .keySet).json)
            _ = try SignedToken(parsing: token).authenticate(
                with: keys,
                expecting: TokenHeader.Expectation(types: [.logout], mayBeUntyped: false, algorithms: [.es256]))
            return try Self.claims(token)
        }

        /// Returns the claims of a token, unverified.
        static func claims(_ token: String) throws -> [String: Any] {
            let parts = token.split(separator: ".")
            let bytes = try #require(Base64URL.decode(parts[1]))
            return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        }
    }

    // OpenID Connect Back-Channel Logout §2.4, §2.5 and §2.6
    @Test func `a client's server gets a logout token that it can verify`() async throws {
        let receiver = LogoutReceiver(.status("200 OK"))
        try await receiver.run { port in
            var session = try await SignedIn(port: port)
            try await session.signOut()
            #expect(try await session.deliver() == 1)
            #expect(try await session.deliver() == 0)
            let request = try #require(receiver.requests.first)
            #expect(receiver.requests.count == 1)
            let head = request.head.lowercased()
            #expect(head.hasPrefix("post /backchannel?of=ours http/1.1\r\n"))
            #expect(head.contains("\r\nhost: rp.example.net"))
            #expect(head.contains("\r\ncontent-type: application/x-www-form-urlencoded"))
            #expect(!head.contains("\r\ncookie:"))
            #expect(!head.contains("\r\nauthorization:"))
            let claims = try await session.verified(request)
            let signedIn = try SignedIn.claims(session.idToken.exposed)
            #expect(claims["iss"] as? String == session.test.issuer.rawValue)
            #expect(claims["aud"] as? String == session.client.id.rawValue)
            for name in ["sub", "sid"] {
                #expect(try #require(claims[name] as? String) == signedIn[name] as? String)
            }
            #expect((claims["jti"] as? String)?.isEmpty == false)
            #expect(claims["nonce"] == nil)
            let events = try #require(claims["events"] as? [String: Any])
            #expect(Array(events.keys) == ["http://schemas.openid.net/event/backchannel-logout"])
        }
    }

    // OpenID Connect Back-Channel Logout §2.5 and §2.8
    @Test func `a client whose server fails once is notified again, with another token`() async throws {
        let receiver = LogoutReceiver(.status("500 Internal Server Error"), .status("200 OK"))
        try await receiver.run { port in
            var session = try await SignedIn(port: port)
            try await session.signOut()
            #expect(try await session.deliver() == 1)
            #expect(try await session.deliver() == 0)
            session.test.clock.advance(by: 10)
            #expect(try await session.deliver() == 1)
            session.test.clock.advance(by: 24 * 3600)
            #expect(try await session.deliver() == 0)
            #expect(receiver.requests.count == 2)
            var names: Set<String> = []
            for request in receiver.requests {
                names.insert(try #require(try await session.verified(request)["jti"] as? String))
            }
            #expect(names.count == 2)
        }
    }

    // The notification goes to its URI only, so a redirect cannot lead the server to an internal host.
    @Test(arguments: ["http://127.0.0.1/", "/elsewhere", "https://rp.example.net/other"])
    func `a redirect is not followed, and the notification is retried later`(target: String) async throws {
        let receiver = LogoutReceiver(
            .status("307 Temporary Redirect", "Location: \(target)\r\n"), .status("204 No Content"))
        try await receiver.run { port in
            var session = try await SignedIn(port: port)
            try await session.signOut()
            #expect(try await session.deliver() == 1)
            #expect(receiver.requests.count == 1)
            session.test.clock.advance(by: 10)
            #expect(try await session.deliver() == 1)
            #expect(receiver.requests.allSatisfy { $0.head.hasPrefix("POST /backchannel?of=ours ") })
        }
    }

    /// A client server whose response never ends.
    private struct Stuck {
        let answer: LogoutReceiver.Answer
        /// Whether the response starts with status 200.
        var isTaken = false
        /// The time limit in seconds; only a silent server reaches it.
        var timeLimit: Int64 = 20
    }

    private static let stuck = [
        Stuck(answer: .silence, timeLimit: 3),
        Stuck(
            answer: .endless("HTTP/1.1 200 OK\r\n", piece: "X-More: \(String(repeating: "x", count: 1000))\r\n")),
        Stuck(
            answer: .endless(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                piece: "1000\r\n\(String(repeating: "x", count: 0x1000))\r\n"), isTaken: true),
    ]

    // The body of the response is ignored, and so is a server that keeps the connection open.
    @Test(.timeLimit(.minutes(2)), arguments: 0..<stuck.count)
    func `an endless response is cut off, after a limited time and a limited number of bytes`(number: Int) async throws
    {
        let stuck = Self.stuck[number]
        let receiver = LogoutReceiver(stuck.answer)
        try await receiver.run { port in
            var session = try await SignedIn(port: port, timeLimit: .seconds(stuck.timeLimit))
            try await session.signOut()
            #expect(try await session.deliver() == 1)
            #expect(receiver.requests.count == 1)
            session.test.clock.advance(by: 10)
            #expect(try await session.deliver() == (stuck.isTaken ? 0 : 1), "\(session.test.log.lines)")
            _ = try await Waiting.until("the end of the connection") { receiver.left >= 1 ? true : nil }
        }
    }

    // OpenID Connect Back-Channel Logout §2.2: by default the program sends nothing to internal hosts.
    @Test(arguments: [[127, 0, 0, 1], [10, 0, 0, 7], [169, 254, 169, 254]] as [[UInt8]])
    func `a host name that resolves to a private address gets no request`(inside: [UInt8]) async throws {
        let receiver = LogoutReceiver(.status("200 OK"))
        try await receiver.run { port in
            var session = try await SignedIn(port: port)
            let notifier = try #require(session.test.server.logoutNotifier)
            try await session.signOut()
            #expect(try await notifier.deliverDue() == 1)
            let form = try FormParameters(parsing: try #require(receiver.requests.first).body)
            // The same notification by a sender without the redirection of the test.
            let sender = LogoutNoticePost(OutboundClient(insecureLoopbackPort: nil) { _ in [inside] })
            let notice = LogoutNotice(
                to: try AbsoluteURI(parsing: "https://rp.example.net:\(port)/backchannel"),
                token: try #require(try form.single("logout_token")))
            guard case .failed = await sender.send(notice) else {
                Issue.record("it was sent")
                return
            }
            #expect(receiver.requests.count == 1)
        }
    }
}
