import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import HTTPTypes
import Testing

/// Tests of misbehaviors in metadata and in authorization responses.
@Suite(.timeLimit(.minutes(2)))
struct CallbackMisbehaviorTests {
    // RFC 9207 §2.4
    @Test func `state, iss, code and error follow the script`() async throws {
        let expected: [(Misbehavior, [String: [String]])] = [
            (.staleState, ["state": ["state-of-long-ago"]]), (.omitsState, ["state": []]),
            (.twoStates, ["state": ["the-state", "state-of-long-ago"]]),
            (.omitsIssuer, ["iss": [], "state": ["the-state"]]), (.wrongIssuer, ["iss": ["https://login.example.com"]]),
            (.codeAndError, ["error": ["access_denied"]]), (.deniesAccess, ["error": ["access_denied"], "code": []]),
            (.staleError, ["error": ["access_denied"], "state": ["state-of-long-ago"], "code": []]),
            (.evilAccountsServer, ["accounts-server": ["https://accounts.zoho.example.com"]]),
        ]
        for (misbehavior, parameters) in expected {
            try await ScriptedAuthorizationServer.run(ServerScript(misbehavior)) { server in
                let callback = try await PlainClient(server: server).callback()
                for (name, values) in parameters { #expect(callback.all(name) == values, "\(misbehavior) \(name)") }
                if parameters["code"] == nil { #expect(callback.all("code").count == 1) }
            }
        }
        try await ScriptedAuthorizationServer.run(ServerScript(.twoCodes)) { server in
            let callback = try await PlainClient(server: server).callback()
            #expect(Set(callback.all("code")).count == 2)
        }
    }

    @Test func `the authorization endpoint can stop at an error page`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.strandsTheUser)) { server in
            let answer = try await PlainClient(server: server).authorize()
            #expect(answer.status == 403)
            #expect(answer.field("Location") == nil)
        }
    }

    @Test func `a code can belong to another server and be invalid at this one`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.otherAccountsServer), sibling: ServerScript()) {
            server, other in
            let client = PlainClient(server: server)
            let location = try await client.authorize().field("Location") ?? ""
            #expect(location.hasSuffix("&"))
            let callback = try FormParameters(parsing: String(location.drop { $0 != "?" }.dropFirst()))
            #expect(callback.all("accounts-server") == [other.origin])
            let code = callback.all("code")[0]
            #expect(try await client.redeem(code).text("error") == "invalid_grant")
            #expect(try await PlainClient(server: other).redeem(code).status == 200)
        }
    }

    @Test(
        arguments: [
            (.trailingSlashIssuer, "\"issuer\":\"{origin}/\""),
            (.templateIssuer, "\"issuer\":\"{origin}/{tenantid}/v2.0\""),
            (.foreignIssuer, "\"issuer\":\"https://login.example.com\""),
            (.plainPKCE, "\"code_challenge_methods_supported\":[\"plain\"]"), (.htmlMetadata, "<!doctype html>"),
            (.scriptAuthorizationEndpoint, "\"authorization_endpoint\":\"javascript:alert(1)\""),
            (.fileAuthorizationEndpoint, "\"authorization_endpoint\":\"file:///etc/passwd\""),
            (.insecureAuthorizationEndpoint, "\"authorization_endpoint\":\"http://login.example.com/authorize\""),
            (.optionAuthorizationEndpoint, "\"authorization_endpoint\":\"--new-window\""),
            (.insecureTokenEndpoint, "\"token_endpoint\":\"http://login.example.com/token\""),
            (.deepMetadata, String(repeating: "[", count: 10_000)),
        ] as [(Misbehavior, String)])
    func `metadata follows the script`(misbehavior: Misbehavior, part: String) async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(misbehavior)) { server in
            let metadata = try await PlainClient(server: server).get(server.url(of: .metadata))
            #expect(metadata.text.contains(part.replacing("{origin}", with: server.origin)))
        }
    }

    @Test func `metadata can be missing, omit PKCE or contain a duplicate member`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.noMetadata)) { server in
            let metadata = try await PlainClient(server: server).get(server.url(of: .metadata))
            #expect(metadata.status == 404)
        }
        try await ScriptedAuthorizationServer.run(ServerScript(.hidesPKCE)) { server in
            let text = try await PlainClient(server: server).get(server.url(of: .metadata)).text
            #expect(!text.contains("code_challenge"))
        }
        try await ScriptedAuthorizationServer.run(ServerScript(.noPushedRequests)) { server in
            let client = PlainClient(server: server)
            #expect(try await client.get(server.url(of: .metadata)).text.contains("pushed") == false)
            let answer = try await client.post(server.url(of: .pushedAuthorization), ["client_id": "lightbox"])
            #expect(answer.status == 404)
        }
        try await ScriptedAuthorizationServer.run(ServerScript(.doubledMetadata)) { server in
            let text = try await PlainClient(server: server).get(server.url(of: .metadata)).text
            #expect(text.components(separatedBy: "\"issuer\":").count == 3)
        }
    }

    @Test func `registration can fail or return more than was requested`() async throws {
        for (misbehavior, part) in [
            (.refusesRegistration, "\"error\":\"invalid_redirect_uri\""),
            (.widensRegistration, "https://evil.example.com/callback"),
        ] as [(Misbehavior, String)] {
            try await ScriptedAuthorizationServer.run(ServerScript(misbehavior)) { server in
                let answer = try await PlainClient(server: server).send(
                    .post, server.url(of: .registration), fields: ["Content-Type": "application/json"],
                    body: "{\"redirect_uris\":[\"http://127.0.0.1/callback\"]}")
                #expect(answer.text.contains(part))
            }
        }
    }
}
