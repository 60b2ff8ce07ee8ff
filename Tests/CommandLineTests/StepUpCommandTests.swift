import CounterfoilClient
import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// Tests of `counterfoil call` at an API that requires more than the sign-in grants.
@Suite(.timeLimit(.minutes(5)))
struct StepUpCommandTests {
    private static let passkey = "urn:counterfoil:acr:passkey"
    private static let password = "urn:counterfoil:acr:password"

    /// Calls the API with `--step-up`; a task follows the printed URL in place of the user.
    private static func stepUp(
        at server: ScriptedAuthorizationServer, home: URL
    ) async throws -> CommandLineTool.Outcome {
        let visits = Mutex<[Task<Void, Never>]>([])
        let call = try await CommandLineTool.run(
            ["call", "--step-up", server.url(of: .api)], home: home, environment: ["BROWSER": "/bin/true"],
            onLine: { line in
                guard line.hasPrefix("Open: "), let url = try? BrowserURL(String(line.dropFirst(6))) else { return }
                visits.withLock { $0.append(Task { _ = await ScriptedBrowser().open(url) }) }
            })
        for visit in visits.withLock({ $0 }) { await visit.value }
        return call
    }

    /// Runs a test with a signed-in user at a server whose API accepts no sign-in and sends a challenge.
    private static func withDemand(
        _ parameters: String,
        _ body: @escaping @Sendable (ScriptedAuthorizationServer, URL) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        var script = ServerScript(.noPushedRequests)
        script.api.requiredContexts = ["urn:example:never"]
        script.api.challenges = ["Bearer error=\"insufficient_user_authentication\", \(parameters)"]
        script.idToken.replaced = [WireMember("acr", .text(password))]
        try await ScriptedAuthorizationServer.run(script) { server in
            let login = try await CommandLineTool.signIn(at: server, home: home, "--scope", "openid")
            #expect(login.status == 0, "\(login.errors)")
            server.forgetRequests()
            try await body(server, home)
        }
    }

    @Test func `call --step-up signs in again for the scope that the API demands`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        var script = ServerScript()
        script.api.requiredScope = "photos.write"
        try await ScriptedAuthorizationServer.run(script) { server in
            let login = try await CommandLineTool.signIn(at: server, home: home)
            #expect(login.status == 0, "\(login.errors)")
            let api = server.url(of: .api)
            let refused = try await CommandLineTool.run(["call", api], home: home)
            #expect(refused.status == 3)
            #expect(
                refused.errors.contains("the API requires more permissions: photos.write (status 403); add --step-up"))
            let call = try await Self.stepUp(at: server, home: home)
            #expect(call.status == 0, "\(call.errors)")
            #expect(call.output == "{\"photos\":[]}")
            #expect(call.errors.hasPrefix("The API requires more permissions: photos.write. Requesting the scope: "))
            #expect(try await CommandLineTool.run(["call", api], home: home).status == 0)
        }
    }

    // RFC 9470 §3
    @Test func `call --step-up names the stronger sign-in for which the browser opens`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        var script = ServerScript()
        script.api.requiredContexts = [Self.passkey]
        try await ScriptedAuthorizationServer.run(script) { server in
            let login = try await CommandLineTool.signIn(at: server, home: home, "--scope", "openid")
            #expect(login.status == 0, "\(login.errors)")
            let call = try await Self.stepUp(at: server, home: home)
            #expect(call.status == 0, "\(call.errors)")
            let wish = "The API requires a stronger sign-in: \(Self.passkey) (a passkey)."
            #expect(call.errors.hasPrefix("\(wish) Requesting the scope: openid.\n"), "\(call.errors)")
            let whoami = try await CommandLineTool.run(["whoami"], home: home)
            #expect(whoami.output.contains("acr: \(Self.passkey)\n"), "\(whoami.output)")
        }
    }

    @Test(arguments: [
        (
            "max_age=\"600\"",
            "a sign-in of the last 10 minutes (status 401); add --step-up, or run counterfoil login again"
        ),
        ("acr_values=\"\(passkey)\"", "a stronger sign-in: \(passkey) (a passkey) (status 401); add --step-up"),
    ])
    func `without --step-up, call says which sign-in the API requires`(parameters: String, words: String) async throws {
        try await Self.withDemand(parameters) { server, home in
            let call = try await CommandLineTool.run(["call", server.url(of: .api)], home: home)
            #expect(call.status == 3)
            #expect(call.errors.hasSuffix("Error: the API requires \(words)\n"), "\(call.errors)")
            #expect(server.requests(to: .authorization).isEmpty)
        }
    }

    // RFC 9470 §5: the new sign-in may be weaker than the API demands.
    @Test func `call --step-up says that the new sign-in is weaker, and asks no second time`() async throws {
        try await Self.withDemand("acr_values=\"\(Self.passkey)\"") { server, home in
            let call = try await Self.stepUp(at: server, home: home)
            #expect(call.status == 3)
            #expect(
                call.errors.hasSuffix(
                    "after another sign-in, the API still requires a stronger sign-in: \(Self.passkey) (a passkey) "
                        + "(status 401); the server signed you in with \(Self.password) (a password). Add a stronger way to "
                        + "sign in, such as a passkey, on your account page at \(server.issuer), and run the command again\n"
                ),
                "\(call.errors)")
            #expect(server.requests(to: .authorization).map { $0.query["acr_values"] } == [Self.passkey])
        }
    }

    // RFC 9470 §5
    @Test func `call --step-up says what to do if the server cannot sign in the user as required`() async throws {
        try await Self.withDemand("acr_values=\"\(Self.passkey)\"") { server, home in
            server.change {
                $0.authorization.outcome = .error("unmet_authentication_requirements", "the user has no passkey")
            }
            let call = try await Self.stepUp(at: server, home: home)
            #expect(call.status == 7)
            #expect(
                call.errors.hasSuffix(
                    "the server could not sign the user in as strongly as required: unmet_authentication_requirements (the "
                        + "user has no passkey). Sign in again with a stronger method, such as a passkey; if you have none, "
                        + "add it on your account page at the server\n"),
                "\(call.errors)")
        }
    }
}
