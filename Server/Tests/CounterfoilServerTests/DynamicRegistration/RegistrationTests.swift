@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

@Suite("Dynamic client registration")
struct RegistrationTests {
    private static let device = "urn:ietf:params:oauth:grant-type:device_code"

    // RFC 7591 §2 and §3.2.1
    @Test func `the response contains the defaults and a secret that does not expire`() async throws {
        let desk = try await RegistrationDesk()
        let reply = try await desk.register(["redirect_uris": [RegistrationDesk.callback]])
        #expect(reply.status == .created)
        #expect(reply.fields[.cacheControl] == "no-store")
        let members = try reply.members
        #expect(members["redirect_uris"] as? [String] == [RegistrationDesk.callback])
        #expect(members["grant_types"] as? [String] == ["authorization_code"])
        #expect(members["response_types"] as? [String] == ["code"])
        #expect(members["token_endpoint_auth_method"] as? String == "client_secret_basic")
        #expect(members["application_type"] as? String == "web")
        #expect(members["id_token_signed_response_alg"] as? String == "RS256")
        #expect(members["subject_type"] as? String == "public")
        #expect(members["client_secret_expires_at"] as? Int == 0)
        #expect(members["client_id_issued_at"] as? Int == Int(desk.test.clock.now.timeIntervalSince1970))
        for name in ["client_id", "client_secret", "registration_access_token"] {
            #expect(try #require(members[name] as? String).wholeMatch(of: /[A-Za-z0-9_\-]+/) != nil, "\(name)")
        }
        let id = try #require(members["client_id"] as? String)
        #expect(members["registration_client_uri"] as? String == "https://id.example.com/oauth2/register/\(id)")
        #expect(!members.values.contains { $0 is NSNull })
    }

    // RFC 7591 §2
    @Test func `everything that is registered is in the response, and an unknown member is not`() async throws {
        let desk = try await RegistrationDesk()
        let sent: [String: Any] = [
            "redirect_uris": [RegistrationDesk.callback, "https://rp.example.net/other?a=b"],
            "token_endpoint_auth_method": "client_secret_post", "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"], "client_name": "Darkroom", "client_uri": "https://rp.example.net",
            "logo_uri": "https://rp.example.net/logo.png", "policy_uri": "https://rp.example.net/privacy",
            "tos_uri": "https://rp.example.net/terms", "contacts": ["ops@rp.example.net"], "application_type": "web",
            "software_id": "4NRB1-0XZABZI9E6-5SM3R", "software_version": "2.1", "subject_type": "pairwise",
            "id_token_signed_response_alg": "ES256", "initiate_login_uri": "https://rp.example.net/login",
            "post_logout_redirect_uris": ["https://rp.example.net/bye"],
            "backchannel_logout_uri": "https://rp.example.net/logout", "require_pushed_authorization_requests": true,
            "dpop_bound_access_tokens": true,
        ]
        let extra: [String: Any] = [
            "scope": "openid photos.read", "client_name#de": "Dunkelkammer", "favourite_colour": ["hue": 3],
            "jwks_uri": NSNull(), "default_max_age": 3600,
        ]
        let client = try await desk.registered(sent.merging(extra) { own, _ in own })
        for (name, value) in sent { #expect((client.members[name] as? NSObject) == (value as? NSObject), "\(name)") }
        for name in ["client_name#de", "favourite_colour", "jwks_uri", "default_max_age"] {
            #expect(client.members[name] == nil, "\(name)")
        }
        // A scope that no client without a person behind it can get is left out.
        #expect(client.members["scope"] as? String == "openid")
        let stored = try await client.registration()
        #expect(stored.presentation.name == "Darkroom")
        #expect(stored.presentation.termsURI?.rawValue == "https://rp.example.net/terms")
        #expect(stored.policy.requiresBoundTokens && stored.policy.requiresPushedRequests)
        #expect(stored.policy.subjectType == .pairwise)
        #expect(stored.policy.idTokenAlgorithm == .es256)
    }

    /// A registration, and the type and the method that the server gives the client.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let body: String
        let type: ClientType
        let method: String
    }

    private static let loopback = "http://127.0.0.1:33418/"

    // OpenID Connect Registration §2, RFC 8252 §8.5
    @Test(arguments: [
        Case(
            testDescription: "a command line",
            body: #"{"redirect_uris": ["http://localhost:3000/callback"]}"#, type: .native, method: "none"),
        Case(
            testDescription: "a private-use scheme with a secret",
            body: #"""
                {"redirect_uris": ["com.example.app:/cb"], "token_endpoint_auth_method": "client_secret_post"}
                """#, type: .native, method: "none"),
        Case(
            testDescription: "an editor",
            body: #"""
                {"redirect_uris": ["http://127.0.0.1/", "http://127.0.0.1:33418/", "https://vscode.dev/redirect"],
                 "grant_types": ["authorization_code", "refresh_token", "\#(device)"], "response_types": ["code"],
                 "token_endpoint_auth_method": "none", "application_type": "native", "client_name": "Editor"}
                """#, type: .native, method: "none"),
        Case(
            testDescription: "a native client that asks for a secret",
            body: #"""
                {"redirect_uris": ["http://localhost/callback"], "application_type": "native",
                 "token_endpoint_auth_method": "client_secret_basic"}
                """#, type: .native, method: "none"),
        Case(
            testDescription: "a page",
            body: #"{"redirect_uris": ["https://app.example.net/cb"], "token_endpoint_auth_method": "none"}"#,
            type: .singlePage, method: "none"),
        Case(
            testDescription: "a page in development",
            body: #"""
                {"redirect_uris": ["http://localhost:5173/cb"], "application_type": "web",
                 "token_endpoint_auth_method": "none"}
                """#, type: .singlePage, method: "none"),
        Case(
            testDescription: "a web application in development",
            body: #"{"redirect_uris": ["http://localhost:8080/cb"], "application_type": "web"}"#,
            type: .web, method: "client_secret_basic"),
        Case(
            testDescription: "a device",
            body: #"{"grant_types": ["\#(device)", "refresh_token"], "client_name": "Television"}"#,
            type: .device, method: "none"),
        Case(
            testDescription: "a device with a posted secret",
            body: #"{"grant_types": ["\#(device)"], "token_endpoint_auth_method": "client_secret_post"}"#,
            type: .device, method: "client_secret_post"),
    ])
    func `the type of the client decides whether it has a secret`(registration: Case) async throws {
        let desk = try await RegistrationDesk()
        let reply = try await desk.send(.post, to: "/oauth2/register", registration.body)
        #expect(reply.status == .created)
        let client = try Registrant(desk: desk, members: reply.members)
        #expect(client.members["token_endpoint_auth_method"] as? String == registration.method)
        #expect((client.secret == nil) == (registration.method == "none"))
        #expect((client.members["client_secret_expires_at"] == nil) == (registration.method == "none"))
        #expect(try await client.stored?.type == registration.type)
        #expect(try await desk.test.store.clientSecrets(of: client.id).count == (client.secret == nil ? 0 : 1))
        if registration.type == .device {
            #expect(client.members["redirect_uris"] == nil)
            #expect(client.members["response_types"] as? [String] == [])
        }
    }

    // RFC 8628 §3.1 and §3.4
    @Test(arguments: ["client_secret_basic", "client_secret_post", "private_key_jwt"])
    func `a device gets the client authentication that it asked for, and needs it`(method: String) async throws {
        let desk = try await RegistrationDesk()
        let key = try SigningKey.generate(.ed25519)
        let keys = try JSONSerialization.jsonObject(with: Data(JSONWebKeySet(keys: [key.publicKey]).encoded()))
        var metadata: [String: Any] = [
            "grant_types": [Self.device, "refresh_token"], "token_endpoint_auth_method": method,
            "client_name": "Television",
        ]
        if method == "private_key_jwt" { metadata["jwks"] = keys }
        let client = try await desk.registered(metadata)
        #expect(client.members["token_endpoint_auth_method"] as? String == method)
        #expect((client.secret == nil) == (method == "private_key_jwt"))

        /// Adds the credentials of the client to a request.
        func authenticated(_ form: FormParameters) throws -> (FormParameters, HTTPFields) {
            switch method {
            case "client_secret_basic":
                return (form, [.authorization: client.basic])
            case "client_secret_post":
                let secret = try #require(client.secret)
                return (form.adding("client_id", client.id.rawValue).adding("client_secret", secret), [:])
            default:
                let now = Int(desk.test.clock.wall.timeIntervalSince1970)
                let claims: [String: ClientAssertionTests.Claim] = [
                    "iss": .text(client.id.rawValue), "sub": .text(client.id.rawValue),
                    "aud": .text("https://id.example.com"), "exp": .seconds(now + 60), "iat": .seconds(now),
                    "jti": .text(Base64URL.encode(RandomBytes().bytes(16))),
                ]
                let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
                let assertion = try key.sign(claims, type: .idToken)
                return (form.adding("client_assertion_type", type).adding("client_assertion", assertion), [:])
            }
        }
        let (form, fields) = try authenticated(FormParameters(["scope": "openid"]))
        let begun = await desk.test.post(form, to: .deviceAuthorization, fields: fields)
        #expect(begun.status == .ok)
        let code = try #require(try begun.members["device_code"] as? String)
        let (poll, pollFields) = try authenticated(
            FormParameters(["grant_type": Self.device, "device_code": code]))
        let polled = await desk.test.post(poll, to: .token, fields: pollFields)
        #expect(try polled.tokenError.error == "authorization_pending")
        // A request without the credentials is refused.
        for endpoint in [Endpoint.deviceAuthorization, .token] {
            let alone = FormParameters([
                "client_id": client.id.rawValue, "grant_type": Self.device, "device_code": code, "scope": "openid",
            ])
            #expect(try await desk.test.post(alone, to: endpoint).tokenError.error == "invalid_client")
        }
    }

    // RFC 6749 §2.3.1
    @Test func `a registered client authenticates with its secret`() async throws {
        let desk = try await RegistrationDesk()
        let client = try await desk.registered([
            "redirect_uris": [RegistrationDesk.callback], "grant_types": ["authorization_code", "refresh_token"],
        ])
        let tokens = try await client.tokens(for: "openid offline_access")
        #expect(tokens.refreshToken != nil)
        let attempt = try await client.attempt()
        let form = attempt.exchange(try await attempt.authorize().code)
        #expect(try await desk.test.redeem(form).tokenError.error == "invalid_client")
    }

    // RFC 8252 §7.3
    @Test func `a native client gets tokens at any port and without state`() async throws {
        let desk = try await RegistrationDesk()
        let client = try await desk.registered([
            "redirect_uris": ["http://localhost/callback"], "application_type": "native",
            "token_endpoint_auth_method": "none", "grant_types": ["authorization_code", "refresh_token"],
        ])
        let attempt = try await client.attempt(at: "http://localhost:53219/callback").with("state", nil)
        let form = attempt.exchange(try await attempt.authorize().code)
        #expect(try await desk.test.redeem(form).tokenResponse.idToken != nil)
        let wrong = try await client.attempt(at: "http://127.0.0.1:53219/callback")
        #expect(try await wrong.firstReply().problemPage.status == 400)
    }

    // A tool in a browser at a fixed port, which says no more about itself than a command line does.
    @Test func `scripts at the loopback redirect URI of a native client can call the token endpoint`() async throws {
        let desk = try await RegistrationDesk()
        let client = try await desk.registered([
            "redirect_uris": ["http://localhost:6274/oauth/callback"], "token_endpoint_auth_method": "none",
            "client_name": "Inspector", "client_uri": "http://localhost:6274",
        ])
        #expect(try await client.stored?.type == .native)
        let preflight = try await desk.send(
            .options, to: "/oauth2/token",
            fields: [.origin: "http://localhost:6274", .accessControlRequestMethod: "POST"])
        #expect(preflight.fields[.accessControlAllowOrigin] == "http://localhost:6274")
        let attempt = try await client.attempt(at: "http://localhost:6274/oauth/callback")
        let form = attempt.exchange(try await attempt.authorize().code)
        let reply = await desk.test.redeem(form, fields: [.origin: "http://localhost:6274"])
        #expect(reply.status == .ok)
        #expect(reply.fields[.accessControlAllowOrigin] == "http://localhost:6274")
        let elsewhere = await desk.test.redeem(form, fields: [.origin: "http://localhost:6275"])
        #expect(elsewhere.fields[.accessControlAllowOrigin] == nil)
    }

    @Test func `scripts of every origin can register a client without credentials`() async throws {
        let desk = try await RegistrationDesk()
        let client = try await desk.registered(["redirect_uris": [RegistrationDesk.callback]])
        for path in ["/oauth2/register", client.url] {
            let preflight = try await desk.send(
                .options, to: path, fields: [.origin: "https://tool.example", .accessControlRequestMethod: "POST"])
            #expect(preflight.status == .noContent)
            #expect(preflight.fields[.accessControlAllowOrigin] == "*")
            #expect(preflight.fields[.accessControlAllowHeaders]?.contains("Authorization") == true)
            #expect(preflight.fields[.accessControlAllowCredentials] == nil)
        }
        let refused = try await desk.send(
            .post, to: "/oauth2/register", "[]", fields: [.origin: "https://tool.example"])
        #expect(refused.fields[.accessControlAllowOrigin] == "*")
    }

    @Test func `a registration is in the audit log, and no secret is in the log`() async throws {
        let desk = try await RegistrationDesk()
        let client = try await desk.registered(["redirect_uris": [RegistrationDesk.callback]])
        #expect(try await client.replace(["redirect_uris": [RegistrationDesk.callback]]).status == .ok)
        #expect(try await client.delete().status == .noContent)
        let events = try await desk.events
        #expect(events.map(\.clientID) == [client.id, client.id, client.id])
        #expect(
            events.map(\.detail) == [
                "registered itself, type web", "changed its own registration", "deleted its own registration",
            ])
        let secret = try #require(client.secret)
        for line in desk.test.log.lines { #expect(!line.contains(secret) && !line.contains(client.token)) }
    }
}
