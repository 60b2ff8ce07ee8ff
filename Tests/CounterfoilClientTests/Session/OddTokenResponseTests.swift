import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import Testing

@testable import CounterfoilClient

/// Tests of token responses with an optional member that is not as RFC 6749 §5.1 describes it.
@Suite(.timeLimit(.minutes(2)))
struct OddTokenResponseTests {
    /// A value of an optional member, as JSON text, and what the client makes of it.
    struct Oddity: Sendable, CustomTestStringConvertible {
        let name: String
        let json: String
        /// The seconds of `expires_in` that the client uses; nil if it uses none.
        var seconds: Int?
        /// Whether the member counts as absent and is reported.
        var isIgnored = true

        var testDescription: String { "\(name) \(json)" }

        static func used(_ name: String, _ json: String, seconds: Int? = nil) -> Self {
            Self(name: name, json: json, seconds: seconds, isIgnored: false)
        }
        static func ignored(_ name: String, _ json: String) -> Self { Self(name: name, json: json) }
    }

    static let oddities: [Oddity] = [
        .used("expires_in", "3599.5", seconds: 3599), .used("expires_in", "3600.0", seconds: 3600),
        .used("expires_in", "3.6e3", seconds: 3600), .used("expires_in", "\"3600\"", seconds: 3600),
        .used("expires_in", "\"3599.5\"", seconds: 3599), .used("expires_in", "0", seconds: 0),
        .used("expires_in", "null"), .used("expires_in", "\"\""),
        .ignored("expires_in", "\"abc\""), .ignored("expires_in", "\"3600 s\""), .ignored("expires_in", "\" 3600\""),
        .ignored("expires_in", "\"1h\""), .ignored("expires_in", "\"0x10\""), .ignored("expires_in", "\"1.2.3\""),
        .ignored("expires_in", "-1"), .ignored("expires_in", "-0.5"), .ignored("expires_in", "\"-1\""),
        .ignored("expires_in", "1e30"), .ignored("expires_in", "1e400"), .ignored("expires_in", "-1e400"),
        .ignored("expires_in", "99999999999999999999"), .ignored("expires_in", "315360001"),
        .ignored("expires_in", "true"), .ignored("expires_in", "[3600]"), .ignored("expires_in", "{\"value\":3600}"),
        .used("scope", "[\"openid\",\"photos.read\"]"), .used("scope", "null"),
        .ignored("scope", "7"), .ignored("scope", "true"), .ignored("scope", "{}"), .ignored("scope", "[7]"),
        .ignored("scope", "\"photos.read \\u0007\""),
        .used("id_token", "null"), .used("id_token", "\"\""),
        .ignored("id_token", "7"), .ignored("id_token", "[\"a.b.c\"]"), .ignored("id_token", "{}"),
        .ignored("id_token", "\"a b\""), .ignored("id_token", "false"),
        .used("unknown", "1e400"), .used("unknown", "[[[[{}]]]]"), .used("unknown", "-0"),
        .used("unknown", String(repeating: "[", count: 40) + "\"]\"" + String(repeating: "]", count: 40)),
        .used("unknown", "\"\\ud800\""),
    ]

    /// The events of a session.
    private final class EventLog: Sendable {
        let all = Mutex<[TokenSession.Event]>([])
    }

    /// Signs in, changes one member of every later token response, and collects the events of a session.
    private static func run(
        _ oddity: Oddity, _ script: ServerScript,
        _ body:
            @escaping @Sendable (
                ScriptedAuthorizationServer, any TokenStore, TokenSession, Credentials, EventLog
            ) async throws -> Void
    ) async throws {
        try await ScriptedAuthorizationServer.run(script) { server in
            let store: any TokenStore = MemoryTokenStore()
            let first = try await SignedIn.at(server, scope: "openid photos.read", in: store)
            server.change { $0.tokens.extras = [WireMember(oddity.name, .raw(oddity.json))] }
            let session = TokenSession(ofAnyClientIn: store)
            let events = EventLog()
            session.observe { event in events.all.withLock { $0.append(event) } }
            try await body(server, store, session, first, events)
        }
    }

    // RFC 6749 §5.1 and §6
    @Test(arguments: oddities, [Misbehavior.rotatesStrictly, .rotatesLeniently])
    func `a refresh response with an odd optional member is not requested again`(
        oddity: Oddity, rotation: Misbehavior
    ) async throws {
        try await Self.run(oddity, ServerScript(rotation)) { server, store, session, first, events in
            let fresh = try await session.refreshed(replacing: first.accessToken)
            #expect(SignedIn.refreshes(at: server).count == 1)
            #expect(fresh.accessToken.exposed == server.accessTokens.last)
            #expect(fresh.refreshToken?.exposed == server.refreshTokens.last)
            #expect(fresh.refreshToken != first.refreshToken)
            #expect(fresh.scope == first.scope)
            #expect(fresh.user == first.user)
            if oddity.name == "id_token" { #expect(fresh.idToken == first.idToken) }
            if oddity.name == "expires_in" {
                let lifetime = try fresh.expires.map { $0.timeIntervalSince(try #require(fresh.received)) }
                #expect(lifetime == oddity.seconds.map { TimeInterval($0) })
            }
            #expect(try await store.credentials(of: .standard) == fresh)
            let reported = events.all.withLock(\.self).contains(.membersIgnored([oddity.name]))
            #expect(reported == oddity.isIgnored)
            // The next refresh sends the new refresh token.
            let next = try await session.refreshed(replacing: fresh.accessToken)
            #expect(next.accessToken != fresh.accessToken)
            #expect(SignedIn.refreshes(at: server).count == 2)
        }
    }

    // RFC 6749 §6: an answer with an access token that must not be used is still an answer.
    @Test(
        arguments: [
            (#"{"access_token":7,"token_type":"Bearer","refresh_token":"new"}"#, .unusableAccessToken),
            (#"{"token_type":"Bearer","refresh_token":"new"}"#, .unusableAccessToken),
            (#"{"access_token":"","token_type":"Bearer","refresh_token":"new"}"#, .unusableAccessToken),
            (#"{"access_token":"a b","token_type":"Bearer","refresh_token":"new"}"#, .unusableAccessToken),
            (#"{"access_token":"a\ud800","token_type":"Bearer","refresh_token":"new"}"#, .unusableAccessToken),
            (#"{"access_token":"a","access_token":"b","refresh_token":"new"}"#, .duplicateMembers),
            (#"{"access_token":"a","refresh_token":"old","refresh_token":"new"}"#, .duplicateMembers),
            (#"{"access_token":"a","refresh_token":"new","unknown":1,"unknown":1}"#, .duplicateMembers),
        ] as [(String, TokenResponseRefusal)])
    func `an access token that cannot be used does not cost the refresh token beside it`(
        json: String, refusal: TokenResponseRefusal
    ) async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictly)) { server in
            let store: any TokenStore = MemoryTokenStore()
            let first = try await SignedIn.at(server, in: store)
            server.change { $0.interruptions = [Interruption(at: .token, .json(json))] }
            await #expect(throws: SessionError.unavailable(.unsafe(.tokenResponse(refusal)))) {
                try await TokenSession(ofAnyClientIn: store).refreshed(replacing: first.accessToken)
            }
            #expect(SignedIn.refreshes(at: server).count == 1)
            let kept = try #require(try await store.record(of: .standard))
            #expect(kept.credentials.refreshToken?.exposed == "new")
            #expect(kept.credentials.accessToken == first.accessToken)
            #expect(kept.refreshIntent == nil)
        }
    }

    // RFC 6749 §6: the response arrived, although the client has not read it.
    @Test func `a refresh response that is too long is not requested again at once`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictly)) { server in
            let store: any TokenStore = MemoryTokenStore()
            let first = try await SignedIn.at(server, in: store)
            server.change { $0.interruptions = [Interruption(at: .token, .spaces(300_000))] }
            let error = await #expect(throws: SessionError.self) {
                try await TokenSession(ofAnyClientIn: store).refreshed(replacing: first.accessToken)
            }
            guard case .unavailable(.unsafe(.transport(.tooLarge))) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(SignedIn.refreshes(at: server).count == 1)
            let kept = try #require(try await store.record(of: .standard))
            #expect(kept.credentials.refreshToken == first.refreshToken)
            // The server may have replaced the refresh token, which explains a later refusal.
            #expect(kept.refreshIntent != nil)
        }
    }

    // RFC 6749 §6: without a new refresh token, the old one stays.
    @Test(arguments: ["\"\"", "null", "7", "true", "[\"rt\"]", "{}", "\"rt\\u0007\""])
    func `an unusable refresh token counts as none`(json: String) async throws {
        let oddity = Oddity(name: "refresh_token", json: json, isIgnored: !["\"\"", "null"].contains(json))
        try await Self.run(oddity, ServerScript(.omitsRefreshToken)) { server, store, session, first, events in
            let fresh = try await session.refreshed(replacing: first.accessToken)
            #expect(fresh.refreshToken == first.refreshToken)
            #expect(SignedIn.refreshes(at: server).count == 1)
            #expect(events.all.withLock(\.self).contains(.membersIgnored(["refresh_token"])) == oddity.isIgnored)
            #expect(try await session.refreshed(replacing: fresh.accessToken) != fresh)
        }
    }

    // RFC 6749 §6 and §7.1: an access token that must not be used, and a new refresh token that must be kept.
    @Test(arguments: ["mac", "", "7", "Bearer extra"], [Misbehavior.rotatesStrictly, .rotatesLeniently])
    func `an access token of an unknown type is not used, and the refresh token with it is kept`(
        type: String, rotation: Misbehavior
    ) async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(rotation)) { server in
            let store: any TokenStore = MemoryTokenStore()
            let first = try await SignedIn.at(server, in: store)
            server.change {
                switch type {
                case "": $0.tokens.omitted = ["token_type"]
                case "7": $0.tokens.extras = [WireMember("token_type", 7)]
                default: $0.tokens.tokenType = type
                }
            }
            let session = TokenSession(ofAnyClientIn: store)
            await #expect(throws: SessionError.unavailable(.unsafe(.tokenResponse(.unknownTokenType)))) {
                try await session.refreshed(replacing: first.accessToken)
            }
            #expect(SignedIn.refreshes(at: server).count == 1)
            let kept = try #require(try await store.credentials(of: .standard))
            #expect(kept.refreshToken?.exposed == server.refreshTokens.last)
            #expect(kept.accessToken == first.accessToken)
            server.change { $0.tokens = TokenScript() }
            // Another process continues with what is stored.
            let fresh = try await TokenSession(ofAnyClientIn: store).refreshed(replacing: first.accessToken)
            #expect(fresh.accessToken.exposed == server.accessTokens.last)
        }
    }

    // RFC 9449 §5
    @Test func `a refresh that returns an unbound token keeps the refresh token and not the access token`() async throws
    {
        try await ScriptedAuthorizationServer.run(ServerScript(.requiresDPoP)) { server in
            let store: any TokenStore = MemoryTokenStore()
            var options = NativeSignIn.Options()
            options.bindsTokens = true
            let first = try await SignedIn.at(server, in: store, options: options)
            server.change { $0.tokens.tokenType = "Bearer" }
            await #expect(throws: SessionError.unavailable(.unsafe(.tokenResponse(.notBound)))) {
                try await TokenSession(ofAnyClientIn: store).refreshed(replacing: first.accessToken)
            }
            let kept = try #require(try await store.credentials(of: .standard))
            #expect(kept.refreshToken?.exposed == server.refreshTokens.last)
            #expect(kept.accessToken == first.accessToken)
        }
    }

    // RFC 6749 §5.1, RFC 8628 §3.5
    @Test(arguments: [("expires_in", "\"soon\""), ("scope", "7"), ("refresh_token", "7")])
    func `a sign-in is not lost by an odd optional member`(name: String, json: String) async throws {
        var script = ServerScript()
        script.tokens.extras = [WireMember(name, .raw(json))]
        try await ScriptedAuthorizationServer.run(script) { server in
            let ignored = Mutex<[[String]]>([])
            let note: @Sendable (NativeSignIn.Event) -> Void = { event in
                if case .membersIgnored(let names) = event { ignored.withLock { $0.append(names) } }
            }
            let signIn = try SignedIn.signIn(at: server, scope: "openid photos.read")
            let inBrowser = try await signIn.run(onEvent: note)
            var onDevice = DeviceSignIn(signIn)
            onDevice.pause = { _ in }
            let elsewhere = try await onDevice.run(onEvent: note) { _ in }
            for credentials in [inBrowser, elsewhere] {
                #expect(credentials.user?.subject == "alice")
                #expect((credentials.expires == nil) == (name == "expires_in"))
                #expect((credentials.refreshToken == nil) == (name == "refresh_token"))
                #expect(credentials.scope.description == "openid photos.read")
            }
            #expect(ignored.withLock(\.self) == [[name], [name]])
        }
    }

    // OpenID Connect Core §3.1.3.3
    @Test func `an ID token of another type is called malformed and not missing`() async throws {
        var script = ServerScript()
        script.tokens.extras = [WireMember("id_token", 7)]
        try await ScriptedAuthorizationServer.run(script) { server in
            await #expect(throws: SignInError.unsafe(.idToken(.malformed(.serialization)))) {
                try await SignedIn.signIn(at: server, scope: "openid").run()
            }
        }
    }

    // RFC 6749 §4.4.3, RFC 8693 §2.2.1
    @Test func `a service and an exchange use the token beside an odd lifetime`() async throws {
        var script = ServerScript()
        script.clients.authentication = .basic
        script.tokens.extras = [WireMember("expires_in", .raw("-1"))]
        try await ScriptedAuthorizationServer.run(script) { server in
            let ignored = Mutex<[[String]]>([])
            var signIn = try ServiceSignInTests.signIn(at: server)
            signIn.onMembersIgnored = { names in ignored.withLock { $0.append(names) } }
            let service = try await signIn.run()
            #expect(ignored.withLock(\.self) == [["expires_in"]])
            #expect(service.expires == nil)
            #expect(service.accessToken.exposed == server.accessTokens.last)
            var exchange = TokenExchange(of: service)
            exchange.audiences = ["printing"]
            let exchanged = try await exchange.run()
            #expect(exchanged.expires == nil)
        }
    }
}
