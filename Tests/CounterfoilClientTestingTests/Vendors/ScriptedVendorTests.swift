import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import Testing

/// Tests of the scripted vendors, each as the vendor's documentation describes it.
@Suite(.timeLimit(.minutes(2)))
struct ScriptedVendorTests {
    private static let secret = ServerScript().clients.secret

    @Test func `FotoWare rejects a secret, writes bearer in lower case, and revokes the old refresh token at once`()
        async throws
    {
        try await ScriptedAuthorizationServer.run(.vendor(.fotoWare)) { server in
            let client = PlainClient(server: server)
            #expect(server.url(of: .token) == "\(server.origin)/fotoweb/oauth2/token")
            #expect(try await client.get(server.url(of: .metadata)).status == 404)
            let tokens = try await client.signIn(["scope": ""])
            #expect(tokens.json?["token_type"] == "bearer")
            #expect(tokens.json?["scope"] == nil)
            #expect(
                try await client.refresh(tokens.text("refresh_token"), ["client_secret": ""]).text("error")
                    == "invalid_client")
            let basic = Data("lightbox:".utf8).base64EncodedString()
            let refused = try await client.token(
                "refresh_token", ["refresh_token": tokens.text("refresh_token") ?? ""],
                fields: ["Authorization": "Basic \(basic)"])
            #expect(refused.text("error") == "invalid_client")
            #expect(try await client.refresh(tokens.text("refresh_token")).status == 200)
            #expect(try await client.refresh(tokens.text("refresh_token")).text("error") == "invalid_grant")
        }
    }

    @Test func `iTwin requires the exact port, and offline_access for a refresh token`() async throws {
        try await ScriptedAuthorizationServer.run(.vendor(.iTwin)) { server in
            var client = PlainClient(server: server)
            #expect(try await client.authorize().status == 400)
            client.asked = ["redirect_uri": "http://localhost:31234/signin-callback", "scope": "itwin-platform"]
            #expect(try await client.signIn().json?["refresh_token"] == nil)
            let tokens = try await client.signIn(["scope": "itwin-platform offline_access"])
            #expect(tokens.json?["scope"] == nil)
            let form = ["redirect_uri": "http://localhost:31234/signin-callback"]
            #expect(try await client.refresh(tokens.text("refresh_token"), form).status == 200)
            #expect(try await client.callAPI(nil).json?["error"]?["code"] == "HeaderNotFound")
        }
    }

    @Test func `Zoho responds with its own error codes from the data center of the user`() async throws {
        try await ScriptedAuthorizationServer.run(.zohoForUserElsewhere, sibling: .zohoSecondDataCentre) { us, eu in
            var client = PlainClient(server: us)
            client.credentials = ["client_secret": Self.secret]
            client.asked = ["scope": "ZohoCRM.modules.ALL,ZohoCRM.users.READ", "access_type": "offline"]
            let callback = try await client.callback(["code_challenge": "", "code_challenge_method": ""])
            #expect(callback.all("accounts-server") == [eu.origin])
            #expect(callback.all("location") == ["eu"])
            let code = callback.all("code")[0]
            let wrong = try await client.redeem(code, ["code_verifier": "-"])
            #expect(wrong.status == 200)
            #expect(wrong.text("error") == "invalid_code")
            var there = PlainClient(server: eu)
            there.credentials = client.credentials
            let tokens = try await there.redeem(code, ["code_verifier": "-"])
            #expect(tokens.json?["expires_in"] == 3_600_000)
            #expect(tokens.json?["expires_in_sec"] == 3600)
            #expect(tokens.text("api_domain") == eu.origin)
            #expect(tokens.text("scope") == "ZohoCRM.modules.ALL,ZohoCRM.users.READ")
            let refreshed = try await there.refresh(tokens.text("refresh_token"))
            #expect(refreshed.json?["refresh_token"] == nil)
            #expect(try await there.callAPI(refreshed.text("access_token"), scheme: "Zoho-oauthtoken").status == 200)
            // A second sign-in returns a refresh token only with `prompt=consent`.
            there.asked = client.asked
            #expect(try await there.signIn().json?["refresh_token"] == nil)
            #expect(try await there.signIn(["prompt": "consent"]).json?["refresh_token"] != nil)
            #expect(
                try await there.post("\(eu.url(of: .revocation))?token=\(tokens.text("refresh_token") ?? "")", [:]).text
                    == "{\"status\":\"success\"}")
            eu.change { $0.interruptions = [Interruption(at: .token, ServerScript.zohoThrottle())] }
            #expect(try await there.refresh("x").text("error") == "Access Denied")
        }
    }

    @Test func `Google requires its secret and access_type and never repeats a refresh token`() async throws {
        try await ScriptedAuthorizationServer.run(.vendor(.google)) { server in
            var client = PlainClient(server: server)
            #expect(try await client.signIn().text("error") == "invalid_client")
            client.credentials = ["client_secret": Self.secret]
            #expect(try await client.signIn().json?["refresh_token"] == nil)
            let tokens = try await client.signIn(["access_type": "offline"])
            #expect(try await client.refresh(tokens.text("refresh_token")).json?["refresh_token"] == nil)
            #expect(try await client.authorize(["redirect_uri": "com.example:/cb"]).status == 400)
        }
    }

    /// Returns the claims of the ID token of a sign-in, unverified.
    private func claims(_ tokens: PlainClient.Reply) throws -> WireValue {
        let part = try #require(Base64URL.decode(tokens.text("id_token")?.split(separator: ".")[1] ?? ""))
        return try JSONDecoder().decode(WireValue.self, from: Data(part))
    }

    @Test func `Microsoft omits PKCE from its metadata and accepts any port of localhost`() async throws {
        try await ScriptedAuthorizationServer.run(.vendor(.microsoft)) { server in
            var client = PlainClient(server: server)
            let metadata = try await client.get("\(server.issuer)/.well-known/openid-configuration")
            #expect(metadata.text("issuer") == server.issuer.rawValue)
            #expect(metadata.json?["code_challenge_methods_supported"] == nil)
            #expect(try await client.authorize().status == 400)
            for address in ["http://localhost:5001/callback", "http://localhost:5002"] {
                client.asked = ["redirect_uri": address]
                #expect(try claims(try await client.signIn())["iss"] == .text(server.issuer.rawValue))
            }
        }
    }

    @Test func `the multi-tenant endpoint of Microsoft has a template as its issuer`() async throws {
        try await ScriptedAuthorizationServer.run(.microsoftForEveryTenant) { server in
            var client = PlainClient(server: server)
            client.asked = ["redirect_uri": "http://localhost:5001/callback"]
            let metadata = try await client.get("\(server.issuer)/.well-known/openid-configuration")
            #expect(metadata.text("issuer") == "\(server.origin)/{tenantid}/v2.0")
            #expect(
                try claims(try await client.signIn())["iss"]
                    == .text("\(server.origin)/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0"))
        }
    }

    @Test func `GitHub responds with forms and with the status 200`() async throws {
        try await ScriptedAuthorizationServer.run(.vendor(.gitHub)) { server in
            var client = PlainClient(server: server)
            client.credentials = ["client_secret": Self.secret]
            let form = try await client.token(
                "authorization_code", ["code": "guessed"], fields: ["Accept": "*/*"])
            #expect(form.status == 200)
            #expect(form.text == "error=bad_verification_code")
            let tokens = try await client.signIn(["scope": "repo user"])
            #expect(tokens.text("scope") == "repo,user")
            #expect(tokens.json?["expires_in"] == nil)
            #expect(tokens.json?["refresh_token"] == nil)
            let device = PlainClient(server: server)
            let begun = try await device.post(server.url(of: .deviceAuthorization), ["client_id": "lightbox"])
            let polled = ["device_code": begun.text("device_code") ?? ""]
            let grant = "urn:ietf:params:oauth:grant-type:device_code"
            #expect(try await device.token(grant, polled).text("error") == "authorization_pending")
            #expect(try await device.token(grant, polled).json?["interval"] == 10)
            #expect(try await device.token(grant, polled).text("access_token") != nil)
        }
    }

    @Test func `Okta and Auth0 require the exact port and differ in the reuse interval`() async throws {
        for (vendor, status) in [(.okta, 200), (.auth0, 400)] as [(ScriptedVendor, Int)] {
            try await ScriptedAuthorizationServer.run(.vendor(vendor)) { server in
                var client = PlainClient(server: server)
                #expect(try await client.authorize().status == 400)
                client.asked = [
                    "redirect_uri": "http://127.0.0.1:8080/callback", "scope": "openid offline_access",
                ]
                let first = try await client.signIn().text("refresh_token")
                #expect(try await client.refresh(first).status == 200)
                #expect(try await client.refresh(first).status == status)
                let metadata = try await client.get(server.url(of: .metadata))
                #expect(metadata.text("issuer") == (vendor == .okta ? server.issuer.rawValue : "\(server.origin)/"))
            }
        }
    }

    @Test func `Slack wraps every response and nests user tokens`() async throws {
        try await ScriptedAuthorizationServer.run(.vendor(.slack)) { server in
            let client = PlainClient(server: server)
            #expect(try await client.redeem("guessed").text == "{\"ok\":false,\"error\":\"invalid_code\"}")
            let tokens = try await client.signIn(["user_scope": "users:read,files:read", "scope": ""])
            #expect(tokens.json?["ok"] == true)
            #expect(tokens.json?["authed_user"]?["token_type"] == "user")
            #expect(tokens.json?["authed_user"]?["scope"] == "users:read,files:read")
            guard case .text(let refresh)? = tokens.json?["authed_user"]?["refresh_token"] else {
                Issue.record("no refresh token")
                return
            }
            #expect(try await client.refresh(refresh).json?["ok"] == true)
            #expect(try await client.refresh(refresh).text == "{\"ok\":false,\"error\":\"invalid_code\"}")
        }
    }
}
