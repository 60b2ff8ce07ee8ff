import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// Tests of what `call` says after the status 401.
@Suite(.timeLimit(.minutes(5)))
struct TokenRejectionTests {
    /// Signs in, changes the server, and calls its API.
    private static func call(
        _ script: ServerScript, signingInWith options: [String] = [],
        changing change: @escaping @Sendable (inout ServerScript) -> Void = { _ in }
    ) async throws -> (CommandLineTool.Outcome, ScriptedAuthorizationServer) {
        let directory = try TemporaryDirectory()
        let home = directory.url
        return try await ScriptedAuthorizationServer.run(script) { server in
            let login = try await CommandLineTool.login(
                [server.issuer.rawValue, "--browser", "print", "--scope", "photos.read"]
                    + options.map { $0.replacing("{origin}", with: server.origin) }, home: home)
            try #require(login.status == 0, "\(login.errors)")
            server.change(change)
            return (try await CommandLineTool.run(["call", server.url(of: .api)], home: home), server)
        }
    }

    private static func jwt(_ misbehaviors: Misbehavior...) -> ServerScript {
        var script = ServerScript(misbehaviors)
        script.tokens.format = .jwt
        return script
    }

    private static func rejection(_ challenges: String...) -> Interruption {
        Interruption(
            at: .api,
            ScriptedAnswer(status: 401, headerFields: challenges.map { .init("WWW-Authenticate", $0) }, body: .text(""))
        )
    }

    // RFC 9068 §4, RFC 9728 §2
    @Test func `a token for another API is named with the sign-in for this one`() async throws {
        let (call, server) = try await Self.call(
            Self.jwt(), signingInWith: ["--resource", "https://albums.example.com", "--api", "{origin}"])
        #expect(call.status == 3)
        let api = server.url(of: .api)
        #expect(
            call.errors == """
                Error: the API rejected the token (status 401): the token is for https://albums.example.com, and not for \
                \(api). Run: counterfoil login \(server.issuer) --api \(server.origin) --browser print --client-id lightbox \
                --resource https://albums.example.com --resource \(api) --scope photos.read

                """)
    }

    @Test func `without metadata of the API, the audience is compared with the origin of its URL`() async throws {
        var script = Self.jwt()
        script.metadata.absent.insert(.resourceMetadata)
        script.api.resource = "{origin}"
        script.interruptions = [Self.rejection("Bearer error=\"invalid_token\"")]
        // The server is at this origin too, so the issuer fits.
        let (own, _) = try await Self.call(script)
        #expect(own.errors.contains("and its response does not show why"), "\(own.errors)")

        script.api.resource = "https://id.example.com"
        let (foreign, server) = try await Self.call(script)
        #expect(foreign.status == 3)
        #expect(
            foreign.errors.contains("the token is for https://id.example.com, and not for \(server.origin). Run: "),
            "\(foreign.errors)")
        #expect(foreign.errors.contains(" --resource \(server.origin) --scope photos.read\n"), "\(foreign.errors)")

        // An identifier that is no URL may be that of the API.
        script.api.resource = "urn:example:photos"
        let (opaque, _) = try await Self.call(script)
        #expect(!opaque.errors.contains("and not for"), "\(opaque.errors)")
        #expect(opaque.errors.contains("and its audience is urn:example:photos."), "\(opaque.errors)")
    }

    // RFC 9068 §3: without a resource in the request, the audience is a default of the server.
    @Test(arguments: [true, false])
    func `without metadata of the API, a token for its issuer is stated with a condition`(
        hasRefreshToken: Bool
    ) async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        var script = hasRefreshToken ? Self.jwt() : Self.jwt(.givesNoRefreshToken)
        script.api.resource = "{issuer}"
        var other = ServerScript()
        other.metadata.absent.insert(.resourceMetadata)
        try await ScriptedAuthorizationServer.run(script) { [other] server in
            // The API does not know the token, and has another origin than the issuer.
            try await ScriptedAuthorizationServer.run(other) { api in
                let login = try await CommandLineTool.signIn(
                    at: server, home: home, "--api", api.origin, "--scope", "photos.read")
                #expect(login.status == 0, "\(login.errors)")
                let call = try await CommandLineTool.run(["call", api.url(of: .api)], home: home)
                #expect(call.status == (hasRefreshToken ? 7 : 3), "\(call.errors)")
                #expect(!call.errors.contains("and not for"), "\(call.errors)")
                let condition =
                    "The token is for \(server.issuer); if the API expects its own URI as the audience, run: "
                    + "counterfoil login \(server.issuer) --api \(api.origin) --browser print --client-id lightbox "
                    + "--resource \(api.origin) --scope photos.read. "
                #expect(call.errors.contains(condition), "\(call.errors)")
                let end =
                    hasRefreshToken
                    ? "Otherwise another sign-in does not help, because a new token was rejected too: compare "
                    : "If the sign-in was ended at the server, run: counterfoil login "
                #expect(call.errors.contains(end), "\(call.errors)")

                // RFC 9728 §2: metadata name the audience.
                api.change { $0.metadata.absent.remove(.resourceMetadata) }
                let named = try await CommandLineTool.run(["call", api.url(of: .api)], home: home)
                #expect(named.status == 3, "\(named.errors)")
                let difference = "the token is for \(server.issuer), and not for \(api.url(of: .api)). Run: "
                #expect(named.errors.contains(difference), "\(named.errors)")
            }
        }
    }

    // RFC 9110 §11.6.1, RFC 9449 §7.1
    @Test func `a token with another scheme than the challenge is named`() async throws {
        let (unbound, _) = try await Self.call(ServerScript()) {
            $0.interruptions = [Self.rejection("DPoP algs=\"ES256\"")]
        }
        #expect(unbound.status == 3)
        #expect(unbound.errors.contains("it asks for a token that is bound to a key (DPoP), and this token is not."))
        #expect(unbound.errors.contains(" --client-id lightbox --dpop --scope photos.read\n"), "\(unbound.errors)")

        let (bound, _) = try await Self.call(ServerScript(), signingInWith: ["--dpop"]) {
            $0.interruptions = [Self.rejection("Bearer")]
        }
        #expect(bound.status == 3)
        #expect(bound.errors.contains("it asks for a Bearer token, and this token is bound to a key (DPoP)."))
        #expect(!bound.errors.contains("--dpop"), "\(bound.errors)")

        let (other, _) = try await Self.call(ServerScript()) {
            $0.interruptions = [Self.rejection("Basic realm=\"photos\"")]
        }
        #expect(other.status == 7)
        #expect(other.errors.contains("it asks for the scheme basic, and not for an access token; check the URL\n"))
    }

    // RFC 6750 §3
    @Test func `a scope of the challenge that the token does not have is named`() async throws {
        let (call, _) = try await Self.call(Self.jwt()) {
            $0.interruptions = [Self.rejection("Bearer error=\"invalid_token\", scope=\"photos.read photos.write\"")]
        }
        #expect(call.status == 3)
        #expect(call.errors.contains("the token does not have the scope photos.write."), "\(call.errors)")
        #expect(call.errors.contains(" --scope 'photos.read photos.write'\n"), "\(call.errors)")
    }

    @Test func `a token that has expired by its own claim, or by the clock of the API, is named`() async throws {
        var script = Self.jwt(.givesNoRefreshToken)
        script.clockOffset = -7200
        script.tokens.expiresIn = .raw("36000")
        let (expired, _) = try await Self.call(script) { $0.interruptions = [Self.rejection("Bearer")] }
        #expect(expired.status == 3)
        #expect(expired.errors.contains("the token expired at 20"), "\(expired.errors)")

        let (early, _) = try await Self.call(Self.jwt(.givesNoRefreshToken)) { $0.clockOffset = 7200 }
        #expect(early.status == 7)
        #expect(early.errors.contains("s ahead of this device's, the token has expired"), "\(early.errors)")
        #expect(!early.errors.contains("counterfoil login"), "\(early.errors)")
    }

    // RFC 9728 §2
    @Test func `an API of another authorization server is named with the sign-in there`() async throws {
        let (call, server) = try await Self.call(ServerScript()) {
            $0.interruptions = [Self.rejection("Bearer error=\"invalid_token\"")]
            $0.metadata.resourceReplaced = [WireMember("authorization_servers", ["http://127.0.0.1:1"])]
        }
        #expect(call.status == 3)
        #expect(
            call.errors.contains("it accepts tokens of http://127.0.0.1:1, and this token is from \(server.issuer)."),
            "\(call.errors)")
        #expect(call.errors.contains("Run: counterfoil login http://127.0.0.1:1\n"), "\(call.errors)")
    }

    // A refresh would have failed if the sign-in had ended.
    @Test(arguments: [true, false])
    func `if nothing differs, another sign-in is proposed only if the token may be revoked`(
        hasRefreshToken: Bool
    ) async throws {
        let script = hasRefreshToken ? ServerScript() : ServerScript(.givesNoRefreshToken)
        let (call, server) = try await Self.call(script) {
            $0.interruptions = [Self.rejection("Bearer error=\"invalid_token\", error_description=\"no such key\"")]
        }
        #expect(call.status == (hasRefreshToken ? 7 : 3))
        #expect(
            call.errors.contains("(status 401): no such key. The issuer of the token is \(server.issuer). "),
            "\(call.errors)")
        #expect(call.errors.contains("counterfoil login") == !hasRefreshToken, "\(call.errors)")
    }
}
