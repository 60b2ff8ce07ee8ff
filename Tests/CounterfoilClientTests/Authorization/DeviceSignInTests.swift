import CounterfoilClient
import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import Testing

/// Tests of the sign-in on another device.
///
/// The intervals between polls are recorded, and no time passes.
@Suite(.timeLimit(.minutes(2)))
struct DeviceSignInTests {
    /// The outcome of a sign-in and the delay before each poll.
    private struct Outcome: Sendable {
        var result: Result<Credentials, SignInError>
        var pauses: [Duration]
    }

    private static func signIn(
        _ script: ServerScript, scope: String = "openid", binding: Bool = false, keepingRefreshToken: Bool = true
    ) async throws -> Outcome {
        try await ScriptedAuthorizationServer.run(script) { server in
            let pauses = Mutex<[Duration]>([])
            var signIn = DeviceSignIn(
                issuer: server.issuer, clientID: try #require(ClientIdentifier("lightbox")),
                scope: try Scope(lenient: scope))
            signIn.options.bindsTokens = binding
            signIn.options.keepsRefreshToken = keepingRefreshToken
            signIn.pause = { pause in pauses.withLock { $0.append(pause) } }
            let prepared = signIn
            let result: Result<Credentials, SignInError>
            do throws(SignInError) {
                result = .success(try await prepared.run { _ in })
            } catch {
                result = .failure(error)
            }
            return Outcome(result: result, pauses: pauses.withLock { $0 })
        }
    }

    private static func polled(_ polls: DeviceScript.Poll..., interval: Int? = 5) -> ServerScript {
        var script = ServerScript()
        script.device.polls = polls
        script.device.interval = interval
        return script
    }

    @Test(arguments: [true, false])
    func `a refresh token is kept unless the app does not use one`(keeping: Bool) async throws {
        let credentials = try await Self.signIn(ServerScript(), keepingRefreshToken: keeping).result.get()
        #expect((credentials.refreshToken != nil) == keeping)
    }

    // RFC 8628 §3.5
    @Test(
        arguments: [
            (polled(.pending, .pending), [5, 5, 5]), (polled(interval: nil), [5]), (polled(interval: 1), [1]),
            (polled(.slowDown, .slowDown, .slowDown), [5, 10, 15, 20]),
            (polled(.pending, .slowDownAsTooManyRequests, .pending), [5, 5, 10, 10]),
            (polled(.answer(.closed), .pending), [5, 10, 10]),
            (polled(.answer(.trouble(503, retryAfter: "30")), .pending), [5, 30, 30]),
        ] as [(ServerScript, [Int])])
    func `polling keeps the interval of the server and slows down after errors`(
        script: ServerScript, seconds: [Int]
    ) async throws {
        let outcome = try await Self.signIn(script)
        #expect(outcome.pauses == seconds.map { .seconds($0) })
        #expect(try outcome.result.get().user?.subject == "alice")
    }

    // RFC 8628 §3.5
    @Test(
        arguments: [
            (polled(.denied), "access was denied"), (polled(.expired), "the code expired before"),
            (polled(.answer(.refusal("invalid_grant"))), "the server refused: invalid_grant"),
            (polled(.answer(.html())), "a response was rejected as unsafe"),
        ] as [(ServerScript, String)])
    func `any other response ends the device flow`(script: ServerScript, words: String) async throws {
        let outcome = try await Self.signIn(script)
        #expect(outcome.pauses.count == 1)
        guard case .failure(let error) = outcome.result else {
            Issue.record("it went on")
            return
        }
        #expect("\(error)".hasPrefix(words), "\(error)")
    }

    // RFC 8628 §3.2
    @Test(arguments: [
        WireMember("device_code", 1), WireMember("user_code", ""), WireMember("expires_in", 0),
        WireMember("verification_uri", "javascript:alert(1)"),
        WireMember("verification_uri", "http://evil.example.com"),
        WireMember("expires_in", "soon"), WireMember("expires_in", -1), WireMember("expires_in", true),
    ])
    func `instructions that cannot be shown are refused`(member: WireMember) async throws {
        var script = ServerScript()
        script.device.replaced = [member]
        guard case .failure(.unsafe(.deviceAuthorization)) = try await Self.signIn(script).result else {
            Issue.record("they were shown")
            return
        }
    }

    // RFC 8628 §3.2
    @Test(
        arguments: [
            ("expires_in", "\"600\"", 600, 1), ("expires_in", "600.9", 600, 1), ("expires_in", "1e6", 86400, 1),
            ("interval", "\"2\"", 600, 2), ("interval", "1.5", 600, 2), ("interval", "\"soon\"", 600, 5),
            ("interval", "-1", 600, 5), ("interval", "1e400", 600, 5), ("verification_uri_complete", "7", 600, 1),
        ] as [(String, String, Int, Int)])
    func `a device code is shown although a number beside it is odd`(
        name: String, json: String, lifetime: Int, interval: Int
    ) async throws {
        var script = ServerScript()
        script.device.replaced = [WireMember(name, .raw(json))]
        try await ScriptedAuthorizationServer.run(script) { server in
            let pauses = Mutex<[Duration]>([])
            var signIn = DeviceSignIn(issuer: server.issuer, clientID: try #require(ClientIdentifier("lightbox")))
            signIn.pause = { pause in pauses.withLock { $0.append(pause) } }
            _ = try await signIn.run { #expect($0.lifetime == .seconds(lifetime)) }
            #expect(pauses.withLock(\.self) == [.seconds(interval)])
        }
    }

    @Test func `a user code cannot steer the terminal`() async throws {
        var script = ServerScript()
        script.device.replaced = [WireMember("user_code", "AB\u{1B}[2JCD")]
        try await ScriptedAuthorizationServer.run(script) { server in
            var signIn = DeviceSignIn(
                issuer: server.issuer, clientID: try #require(ClientIdentifier("lightbox")))
            signIn.pause = { _ in }
            _ = try await signIn.run { instructions in #expect(instructions.userCode == "AB[2JCD") }
        }
    }

    @Test func `a sign-in from strings reports its events and is bound to the origins of its APIs`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            var signIn = try DeviceSignIn(
                issuer: server.issuer.rawValue, clientID: "lightbox", scope: "openid", apiOrigins: [server.origin])
            signIn.pause = { _ in }
            let steps = Mutex<[String]>([])
            @Sendable func note(_ step: String) { steps.withLock { $0.append(step) } }
            let credentials = try await signIn.run { event in
                switch event {
                case .discovered(let server): note("discovered \(server.issuer)")
                case .identified(let client, _): note("identified \(client)")
                case .exchanged: note("exchanged")
                default: note("\(event)")
                }
            } show: { instructions in
                note(instructions.userCode)
            }
            let expected = ["discovered \(server.issuer)", "identified lightbox", "BDWP-HQPK", "exchanged"]
            #expect(steps.withLock { $0 } == expected)
            #expect(credentials.apiOrigins == [try APIOrigin(server.origin)])
        }
        #expect(throws: SignInError.self) { try DeviceSignIn(issuer: "https://id.example.com", clientID: "") }
    }

    // RFC 9449 §5
    @Test func `tokens of the device flow can be bound to a key`() async throws {
        let outcome = try await Self.signIn(ServerScript(.requiresDPoP), binding: true)
        #expect(try outcome.result.get().proofKey != nil)
    }

    @Test func `a server without the device flow is reported`() async throws {
        var script = ServerScript()
        script.metadata.absent.insert(.deviceAuthorization)
        guard case .failure(.unusable(let reason)) = try await Self.signIn(script).result else {
            Issue.record("it went on")
            return
        }
        #expect(reason.contains("use a browser on this one"))
    }
}
