import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// Tests of the scripted server without misbehaviors, the baseline of every deviation.
@Suite(.timeLimit(.minutes(2)))
struct HonestServerTests {
    // RFC 6749 §4.1, RFC 6750 §2.1
    @Test func `a code yields tokens that the API accepts`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let client = PlainClient(server: server)
            let callback = try await client.callback()
            #expect(callback.all("state") == ["the-state"])
            #expect(callback.all("iss") == [server.origin])
            let tokens = try await client.redeem(callback.all("code")[0])
            #expect(tokens.status == 200)
            #expect(tokens.field("Cache-Control") == "no-store")
            #expect(tokens.json?["token_type"] == "Bearer")
            #expect(tokens.json?["expires_in"] == 3600)
            #expect(tokens.text("scope") == "openid photos.read")
            let answer = try await client.callAPI(tokens.text("access_token"))
            #expect(answer.status == 200)
            #expect(answer.text == "{\"photos\":[]}")
            #expect(server.requests.map(\.endpoint) == [.authorization, .token, .api])
        }
    }

    // RFC 6749 §4.1.3, RFC 7636 §4.6
    @Test(arguments: [
        ["code_verifier": "wrong-verifier-wrong-verifier-wrong-verifier"], ["code_verifier": "-"],
        ["redirect_uri": "http://127.0.0.1:5001/callback"], ["redirect_uri": "-"], ["client_id": "somebody-else"],
        ["code": "guessed"],
    ])
    func `a code is redeemed only by the client that requested it`(changes: [String: String]) async throws {
        try await ScriptedAuthorizationServer.run { server in
            let client = PlainClient(server: server)
            let code = try await client.callback().all("code")[0]
            let refused = try await client.redeem(code, changes)
            #expect(refused.status == 400)
            #expect(refused.text("error") == "invalid_grant")
            #expect(try await client.redeem(code).status == 200)
        }
    }

    // RFC 6749 §4.1.2
    @Test func `a code redeemed twice revokes the tokens issued for it`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let client = PlainClient(server: server)
            let code = try await client.callback().all("code")[0]
            let tokens = try await client.redeem(code)
            #expect(try await client.redeem(code).text("error") == "invalid_grant")
            #expect(try await client.callAPI(tokens.text("access_token")).status == 401)
            #expect(try await client.refresh(tokens.text("refresh_token")).text("error") == "invalid_grant")
        }
    }

    @Test(arguments: [
        (["code_challenge": ""], "invalid_request"), (["code_challenge_method": "plain"], "invalid_request"),
        (["response_type": "token"], "unsupported_response_type"),
    ])
    func `an invalid authorization request is refused by redirect`(
        changes: [String: String], error: String
    ) async throws {
        try await ScriptedAuthorizationServer.run { server in
            let callback = try await PlainClient(server: server).callback(changes)
            #expect(callback.all("error") == [error])
            #expect(callback.all("code").isEmpty)
        }
    }

    // RFC 8414 §3.1, OpenID Connect Discovery §4
    @Test(arguments: ["", "/tenant"])
    func `correct metadata is published at three URLs`(path: String) async throws {
        var script = ServerScript()
        script.issuerPath = path
        try await ScriptedAuthorizationServer.run(script) { server in
            for address in server.issuer.metadataURLs {
                let answer = try await PlainClient(server: server).get(address)
                #expect(answer.text("issuer") == server.issuer.rawValue)
                #expect(answer.text("token_endpoint") == server.url(of: .token))
                #expect(
                    try AuthorizationServerMetadata(parsing: Array(answer.text.utf8)).issuer == server.issuer.rawValue)
            }
            #expect(try await PlainClient(server: server).signIn().status == 200)
        }
    }

    // OpenID Connect Core §3.1.3.7
    @Test(arguments: SigningAlgorithm.allCases)
    func `the ID token is valid, and its key is published`(algorithm: SigningAlgorithm) async throws {
        var script = ServerScript()
        script.keys.algorithm = algorithm
        try await ScriptedAuthorizationServer.run(script) { server in
            let client = PlainClient(server: server)
            let tokens = try await client.signIn()
            let keys = try await client.get(server.url(of: .keys))
            let verifier = IDTokenVerifier(
                issuer: server.issuer, clientID: try #require(ClientIdentifier("lightbox")))
            let accessToken = AccessToken(tokens.text("access_token") ?? "")
            let verified = try verifier.verify(
                try #require(IDToken(tokens.text("id_token") ?? "")),
                keys: try JSONWebKeySet(parsing: Array(keys.text.utf8)),
                request: IDTokenVerifier.Request(nonce: try #require(Nonce("the-nonce"))),
                accessToken: accessToken, at: Date())
            #expect(verified.subject == "alice")
            let userInfo = try await client.get(
                server.url(of: .userInfo), fields: ["Authorization": "Bearer \(tokens.text("access_token") ?? "")"])
            #expect(userInfo.text("sub") == "alice")
        }
    }

    // RFC 9068 §4, RFC 9728 §3.1
    @Test func `access tokens can be signed for the API that the metadata names`() async throws {
        var script = ServerScript()
        script.tokens.format = .jwt
        try await ScriptedAuthorizationServer.run(script) { server in
            let client = PlainClient(server: server)
            let refused = try await client.callAPI(nil)
            #expect(refused.field("WWW-Authenticate")?.contains(server.url(of: .resourceMetadata)) == true)
            let metadata = try await client.get(server.url(of: .resourceMetadata))
            #expect(metadata.json?["authorization_servers"] == [.text(server.origin)])
            let token = try await client.signIn().text("access_token") ?? ""
            let keys = try await client.get(server.url(of: .keys))
            let verified = try AccessTokenVerifier(
                issuer: server.issuer, audience: metadata.text("resource") ?? ""
            ).verify(token, keys: try JSONWebKeySet(parsing: Array(keys.text.utf8)), at: Date())
            #expect(verified.subject == "alice")
            #expect(try await client.callAPI(token).status == 200)
        }
    }

    // RFC 9126 §2 and §4
    @Test func `a pushed authorization request is used once`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.requiresPushedRequests)) { server in
            let client = PlainClient(server: server)
            #expect(try await client.callback().all("error") == ["invalid_request"])
            let left = try await client.post(
                server.url(of: .pushedAuthorization),
                [
                    "response_type": "code", "client_id": "lightbox", "redirect_uri": PlainClient.redirectURI,
                    "state": "pushed", "code_challenge_method": "S256",
                    "code_challenge": CodeChallenge(of: PlainClient.verifier).rawValue,
                ])
            #expect(left.status == 201)
            let address =
                "\(server.url(of: .authorization))?client_id=lightbox&request_uri=\(left.text("request_uri") ?? "")"
            let answer = try await client.get(address)
            #expect(answer.field("Location")?.contains("state=pushed") == true)
            #expect(try await client.get(address).status == 400)
        }
    }

    // RFC 8628 §3.2 and §3.5
    @Test func `a device gets tokens after its user has approved`() async throws {
        var script = ServerScript(.authorizationPending)
        script.device.polls += [.slowDown]
        try await ScriptedAuthorizationServer.run(script) { server in
            let client = PlainClient(server: server)
            let begun = try await client.post(
                server.url(of: .deviceAuthorization), ["client_id": "lightbox", "scope": "openid"])
            #expect(begun.json?["interval"] == 1)
            #expect(begun.text("verification_uri") == server.url(of: .verification))
            let form = ["device_code": begun.text("device_code") ?? ""]
            let grant = "urn:ietf:params:oauth:grant-type:device_code"
            for error in ["authorization_pending", "authorization_pending", "slow_down"] {
                #expect(try await client.token(grant, form).text("error") == error)
            }
            #expect(try await client.token(grant, form).text("id_token") != nil)
            #expect(try await client.token(grant, form).text("error") == "invalid_grant")
        }
    }

    // RFC 6749 §4.4, RFC 7009 §2, RFC 7591 §3
    @Test func `clients register, use client credentials and revoke tokens`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let registered = try await PlainClient(server: server).send(
                .post, server.url(of: .registration), fields: ["Content-Type": "application/json"],
                body: "{\"redirect_uris\":[\"https://app.example.com/cb\"],\"client_name\":\"x\","
                    + "\"token_endpoint_auth_method\":\"client_secret_post\"}")
            #expect(registered.status == 201)
            #expect(registered.text("client_name") == "x")
            var client = PlainClient(server: server)
            client.clientID = registered.text("client_id") ?? ""
            #expect(try await client.token("client_credentials", [:]).text("error") == "invalid_client")
            client.credentials = ["client_secret": registered.text("client_secret") ?? ""]
            let token = try await client.token("client_credentials", ["scope": "photos.read"]).text("access_token")
            #expect(try await client.callAPI(token).status == 200)
            for _ in 0..<2 {
                #expect(
                    try await client.post(server.url(of: .revocation), ["token": token ?? ""]).status == 200)
            }
            #expect(try await client.callAPI(token).status == 401)
        }
    }

    // OpenID Connect RP-Initiated Logout §3
    @Test func `signing out redirects back with the state`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let query = FormParameters(["post_logout_redirect_uri": "com.example.app:/out", "state": "s"]).encoded
            let answer = try await PlainClient(server: server).get("\(server.url(of: .endSession))?\(query)")
            #expect(answer.field("Location") == "com.example.app:/out?state=s")
        }
    }

    @Test func `a server can have another public origin`() async throws {
        var script = ServerScript()
        script.publicOrigin = "https://accounts.example.com"
        try await ScriptedAuthorizationServer.run(script) { server in
            let client = PlainClient(server: server)
            let metadata = try await client.get("\(server.address)/.well-known/oauth-authorization-server")
            #expect(metadata.text("issuer") == "https://accounts.example.com")
            #expect(metadata.text("token_endpoint") == server.url(of: .token))
            #expect(server.issuer.rawValue == "https://accounts.example.com")
        }
    }
}
