import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// Tests of parameters and members at the token endpoint that no standard defines.
@Suite(.timeLimit(.minutes(2)))
struct TokenParameterTests {
    private static func script(_ url: String) -> ServerScript {
        var script = ServerScript()
        script.tokens.extras = [
            WireMember("instance_url", .text(url)), WireMember("refresh_token_expires_in", .raw("8640000")),
            WireMember("signature", "not asked for"),
        ]
        return script
    }

    // Salesforce names the host of the user's API in `instance_url`, and may change it.
    @Test func `an app adds parameters to each token request and keeps members of each response`() async throws {
        try await ScriptedAuthorizationServer.run(Self.script("https://one.example.com")) { server in
            let directory = try TemporaryDirectory()
            let store = EncryptedFileTokenStore(file: directory.file("tokens"), placement: .besideTheFile)
            var signIn = try SignedIn.signIn(at: server)
            signIn.options.tokenParameters = ["audience": "https://photos.example.com"]
            signIn.options.details = ["instance_url", "refresh_token_expires_in", "absent"]
            let first = try await TokenSession(for: signIn, store: store).signedIn()
            #expect(
                first.details == ["instance_url": "https://one.example.com", "refresh_token_expires_in": "8640000"])

            // A refresh by a session that knows nothing but the store.
            server.change { $0.tokens = Self.script("https://two.example.com").tokens }
            let session = TokenSession(
                ofAnyClientIn: EncryptedFileTokenStore(file: directory.file("tokens"), placement: .besideTheFile))
            let second = try await session.refreshed(replacing: first.accessToken)
            #expect(second.details["instance_url"] == "https://two.example.com")
            #expect(second.details["signature"] == nil)
            let requests = server.requests(to: .token)
            #expect(requests.map { $0.form["grant_type"] } == ["authorization_code", "refresh_token"])
            #expect(requests.allSatisfy { $0.form.all("audience") == ["https://photos.example.com"] })
        }
    }

    @Test(arguments: ["scope", "refresh_token", "client_secret", "grant_type", ""])
    func `a parameter that the client sets itself is refused before the browser opens`(name: String) async throws {
        try await ScriptedAuthorizationServer.run { server in
            var signIn = try SignedIn.signIn(at: server)
            signIn.options.tokenParameters = [name: "x"]
            let prepared = signIn
            await #expect(throws: SignInError.self) { try await prepared.run() }
            signIn.options.tokenParameters = [:]
            signIn.options.details = ["refresh_token"]
            let other = signIn
            await #expect(throws: SignInError.self) { try await other.run() }
            #expect(server.requests(to: .authorization).isEmpty)
        }
    }
}
