import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// Permissions of a client by its type (RFC 6749 §2.1).
struct ClientTypeTests {
    // A program without a user and a device without a browser get no code, whatever their redirect URIs.
    @Test(arguments: [ClientType.service, .device])
    func `a client type without browser sign-in gets no code`(type: ClientType) async throws {
        let test = try await TestServer()
        let client = try await test.register("Robot", type: type, under: .standard(for: type))
        #expect(try await Attempt(test, by: client).error().code == .unauthorizedClient)
        let reply = try await Attempt(test, by: client, at: "https://evil.example/cb").firstReply()
        #expect(reply.location == nil)
        #expect(try reply.problemPage.status == 400)
    }

    // Without a redirect URI the error is shown to the user, and nothing is redirected (RFC 6749 §4.1.2.1).
    @Test(arguments: [ClientType.service, .device])
    func `without a redirect URI the error is shown on a page`(type: ClientType) async throws {
        let test = try await TestServer()
        let client = try await test.register("Robot", type: type, at: [], under: .standard(for: type))
        for address in [nil, "http://127.0.0.1:51004/callback"] {
            let reply = try await Attempt(test, by: client, at: address).firstReply()
            #expect(reply.location == nil)
            #expect(try reply.problemPage.explanation.contains("cannot sign people in"))
        }
    }

    // A code with PKCE at an exact https redirect URI, no token in any URL, and no secret.
    @Test func `a single-page app is a public client with a code and PKCE`() async throws {
        let test = try await TestServer()
        let address = "https://app.example.com/callback"
        let client = try await test.register("Album", type: .singlePage, redirectURIs: [address])
        let attempt = Attempt(test, by: client, at: address, for: "openid photos.read")
        for type in ["token", "id_token token", "code token", "code id_token"] {
            #expect(try await attempt.with("response_type", type).error().code == .unsupportedResponseType)
        }
        let bare = attempt.with("code_challenge", nil).with("code_challenge_method", nil)
        #expect(try await bare.error().code == .invalidRequest)
        for other in [address + "/", address + "?x=1", "https://app.example.com", "http://app.example.com/callback"] {
            let reply = try await attempt.with("redirect_uri", other).firstReply()
            #expect(reply.location == nil)
            #expect(try reply.problemPage.status == 400)
        }

        let reply = try await attempt.authorize()
        #expect(try reply.destination.hasPrefix(address + "?code="))
        #expect(try !reply.destination.contains("token"))
        let form = attempt.exchange(try reply.code)
        #expect(try await test.redeem(form.adding("client_secret", "x")).tokenError.error == "invalid_client")
        #expect(try await test.redeem(form).tokenResponse.idToken != nil)
    }

    // Every client has the grants of its type and no other.
    @Test func `a client type without the grant is refused whatever it presents`() async throws {
        let test = try await TestServer()
        let secret = ClientSecret()
        let robot = try await test.register(
            "Robot", type: .service, at: [], under: .standard(for: .service), secret: secret)
        let television = try await test.register(
            "Television", type: .device, at: [], under: .standard(for: .device))
        let attempt = Attempt(test)
        let form = attempt.exchange(try await attempt.authorize().code)
        let asRobot = form.setting("client_id", to: robot.id.rawValue).adding("client_secret", secret.exposed)
        #expect(try await test.redeem(asRobot).tokenError.error == "unauthorized_client")
        let asTelevision = form.setting("client_id", to: television.id.rawValue)
        #expect(try await test.redeem(asTelevision).tokenError.error == "unauthorized_client")
        // No client type has the password grant or the response type token.
        for grant in ["password", "implicit", "token"] {
            let other = asRobot.setting("grant_type", to: grant)
            #expect(try await test.redeem(other).tokenError.error == "unsupported_grant_type")
        }
        #expect(await test.redeem(form).status == .ok)
    }
}
