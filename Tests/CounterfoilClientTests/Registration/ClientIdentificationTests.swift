import CounterfoilClient
import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Tests of the ways in which an app obtains its client identifier.
@Suite(.timeLimit(.minutes(2)))
struct ClientIdentificationTests {
    private static let document = "https://lightbox.example/client.json"

    /// Creates a sign-in of an app that registers itself; with a metadata document on request.
    static func signIn(
        at server: ScriptedAuthorizationServer, storedIn store: any ClientRegistrationStore, hasDocument: Bool = false,
        scope: String = "openid photos.read"
    ) throws -> NativeSignIn {
        var client = ClientIdentification()
        client.registration = .init(as: "Lightbox", storedIn: store)
        if hasDocument { client.metadataDocument = try ClientMetadataDocument(document) }
        var signIn = NativeSignIn(issuer: server.issuer, client: client, scope: try Scope(lenient: scope))
        signIn.browser = ScriptedBrowser()
        signIn.timeout = .seconds(60)
        return signIn
    }

    private static func takingDocuments(_ script: ServerScript = ServerScript()) -> ServerScript {
        var script = script
        script.metadata.replaced.append(WireMember("client_id_metadata_document_supported", true))
        return script
    }

    /// Returns the error of a sign-in at a scripted server.
    ///
    /// Checks that no page was opened, no token requested and no registration stored.
    private static func failure(_ script: ServerScript) async throws -> SignInError? {
        try await ScriptedAuthorizationServer.run(script) { server in
            let store = MemoryTokenStore()
            let signIn = try Self.signIn(at: server, storedIn: store)
            do throws(SignInError) {
                _ = try await signIn.run()
                return nil
            } catch {
                #expect(server.requests(to: .authorization).isEmpty)
                #expect(server.requests(to: .token).isEmpty)
                #expect(store.registration(at: server.issuer) == nil)
                return error
            }
        }
    }

    // RFC 7591 §2, RFC 8252 §7.3
    @Test func `an app without a client identifier registers itself as a native client`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store = MemoryTokenStore()
            let origins = Mutex<[ClientIdentification.Origin]>([])
            let credentials = try await Self.signIn(at: server, storedIn: store).run { event in
                if case .identified(_, let origin) = event { origins.withLock { $0.append(origin) } }
            }
            #expect(origins.withLock { $0 } == [.registeredNow])
            let request = try #require(server.requests(to: .registration).first)
            #expect(request.headerFields[.contentType] == "application/json")
            #expect(request.json?["application_type"] == "native")
            #expect(request.json?["token_endpoint_auth_method"] == "none")
            #expect(request.json?["grant_types"] == ["authorization_code", "refresh_token"])
            #expect(request.json?["response_types"] == ["code"])
            #expect(request.json?["redirect_uris"] == ["http://127.0.0.1/callback"])
            #expect(request.json?["client_name"] == "Lightbox")
            #expect(request.json?["scope"] == "openid photos.read")
            let kept = try #require(store.registration(at: server.issuer))
            #expect(credentials.clientID == kept.clientID)
            #expect(server.requests(to: .token).first?.form["client_id"] == kept.clientID.rawValue)
        }
    }

    // First the registered identifier, then the metadata document, then dynamic registration.
    @Test func `the ways to a client identifier are tried in order`() async throws {
        let store = MemoryTokenStore()
        try await ScriptedAuthorizationServer.run(Self.takingDocuments()) { server in
            var signIn = try Self.signIn(at: server, storedIn: store, hasDocument: true)
            #expect(try await signIn.run().clientID.rawValue == Self.document)
            signIn.client.registered[server.issuer] = ClientIdentifier("lightbox")
            #expect(try await signIn.run().clientID.rawValue == "lightbox")
            #expect(server.requests(to: .registration).isEmpty)
        }
        // A server that does not support metadata documents.
        try await ScriptedAuthorizationServer.run { server in
            let signIn = try Self.signIn(at: server, storedIn: store, hasDocument: true)
            #expect(try await signIn.run().clientID.rawValue.hasPrefix("registered-"))
        }
    }

    @Test func `without any way to a client identifier no page is opened`() async throws {
        var script = ServerScript()
        script.metadata.absent.insert(.registration)
        try await ScriptedAuthorizationServer.run(script) { server in
            let signIn = try Self.signIn(at: server, storedIn: MemoryTokenStore(), hasDocument: true)
            await #expect(throws: SignInError.noClient(server.issuer)) { try await signIn.run() }
            #expect(server.requests.allSatisfy { $0.endpoint == .metadata })
        }
    }

    // Registrations are stored under the issuer, byte for byte, and used only there.
    @Test func `a registration is used again at its server and nowhere else`() async throws {
        let store = MemoryTokenStore()
        try await ScriptedAuthorizationServer.run { one in
            try await ScriptedAuthorizationServer.run { other in
                let first = try await Self.signIn(at: one, storedIn: store).run()
                let elsewhere = try await Self.signIn(at: other, storedIn: store).run()
                let again = try await Self.signIn(at: one, storedIn: store).run()
                #expect(again.clientID == first.clientID)
                #expect(elsewhere.clientID != first.clientID)
                #expect(one.requests(to: .registration).count == 1)
                #expect(other.requests(to: .registration).count == 1)
                #expect(!other.requests.contains { $0.text.contains(first.clientID.rawValue) })
            }
        }
    }

    // An identifier from another server is not valid at this one.
    @Test func `an identifier of another server is not sent`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            var signIn = try Self.signIn(at: server, storedIn: MemoryTokenStore())
            signIn.client.registered[try Issuer("https://id.example.com")] = ClientIdentifier("lightbox")
            // The secret belongs to that identifier too.
            signIn.options.authentication = .secretPost(try #require(ClientSecret("secret-of-another")))
            let credentials = try await signIn.run()
            #expect(credentials.clientID.rawValue.hasPrefix("registered-"))
            #expect(credentials.authentication == .none)
            #expect(!server.requests.contains { $0.text.contains("secret-of-another") })
        }
    }

    @Test func `a changed configuration causes a new registration that includes the earlier redirect URIs`()
        async throws
    {
        let store = MemoryTokenStore()
        try await ScriptedAuthorizationServer.run { server in
            let first = try await Self.signIn(at: server, storedIn: store).run()
            var fixed = try Self.signIn(at: server, storedIn: store)
            fixed.redirect = try .loopback("http://127.0.0.1/other")
            let second = try await fixed.run()
            #expect(second.clientID != first.clientID)
            let wider = try Self.signIn(at: server, storedIn: store, scope: "openid photos.write")
            let third = try await wider.run()
            let asked = server.requests(to: .registration).map(\.json)
            #expect(asked.count == 3)
            #expect(asked.last??["redirect_uris"] == ["http://127.0.0.1/callback", "http://127.0.0.1/other"])
            #expect(asked.last??["scope"] == "openid photos.write photos.read")
            // The last registration covers all three redirect URIs.
            #expect(try await fixed.run().clientID == third.clientID)
            #expect(try await Self.signIn(at: server, storedIn: store).run().clientID == third.clientID)
            #expect(server.requests(to: .registration).count == 3)
        }
    }

    // RFC 7591 §3.2.1
    @Test func `an issued secret is used, stored, and replaced before it expires`() async throws {
        let store = MemoryTokenStore()
        var script = ServerScript()
        script.registration.authenticationMethod = "client_secret_basic"
        try await ScriptedAuthorizationServer.run(script) { server in
            let first = try await Self.signIn(at: server, storedIn: store).run()
            guard case .secretBasic(let secret) = first.authentication else {
                Issue.record("no secret was kept")
                return
            }
            #expect(server.secrets.contains(secret.exposed))
            #expect(!"\(String(reflecting: store.registration(at: server.issuer)))".contains(secret.exposed))
            #expect(server.requests(to: .token).last?.authorization?.hasPrefix("Basic ") == true)
            #expect(try await Self.signIn(at: server, storedIn: store).run().clientID == first.clientID)
            // The next secret expires after five minutes, which is too short for a sign-in.
            store.removeRegistration(at: server.issuer)
            server.change { $0.registration.secretLifetime = 300 }
            let short = try await Self.signIn(at: server, storedIn: store).run()
            server.change { $0.registration.secretLifetime = 3600 }
            let long = try await Self.signIn(at: server, storedIn: store).run()
            #expect(long.clientID != short.clientID)
            #expect(try await Self.signIn(at: server, storedIn: store).run().clientID == long.clientID)
        }
    }

    // RFC 7591 §3.2.1
    @Test(arguments: ["-1", "0", "\"0\"", "\"never\"", "true", "1e400", "[0]"])
    func `a registration is kept although the end of its secret is odd`(json: String) async throws {
        let store = MemoryTokenStore()
        var script = ServerScript()
        script.registration.authenticationMethod = "client_secret_basic"
        script.registration.replaced = [WireMember("client_secret_expires_at", .raw(json))]
        try await ScriptedAuthorizationServer.run(script) { server in
            let first = try await Self.signIn(at: server, storedIn: store).run()
            guard case .secretBasic = first.authentication else {
                Issue.record("no secret was kept")
                return
            }
            #expect(try await Self.signIn(at: server, storedIn: store).run().clientID == first.clientID)
        }
    }

    // RFC 7591 §3.2.1 and §3.2.2
    @Test(arguments: [
        ("no client id", ClientRegistration.Refusal.noClientID), ("client id of another type", .noClientID),
        ("other redirect URIs", .otherRedirectURIs), ("no redirect URIs", .otherRedirectURIs),
        ("more redirect URIs", .otherRedirectURIs), ("key", .otherAuthentication),
        ("secret of another type", .badSecret), ("page", .unreadable),
        ("members twice", .unreadable), ("forbidden", .unreadableRefusal(403)),
    ])
    func `an unusable registration response is refused before a page is opened`(
        kind: String, refusal: ClientRegistration.Refusal
    ) async throws {
        var script = ServerScript()
        switch kind {
        case "no client id": script.registration.omitted = ["client_id"]
        case "client id of another type": script.registration.replaced = [WireMember("client_id", 7)]
        case "other redirect URIs":
            script.registration.replaced = [WireMember("redirect_uris", ["https://evil.example.com/callback"])]
        case "no redirect URIs": script.registration.omitted = ["redirect_uris"]
        case "more redirect URIs": script = ServerScript(.widensRegistration)
        case "key": script.registration.authenticationMethod = "private_key_jwt"
        case "secret of another type":
            script.registration.replaced = [WireMember("client_secret", ["a", "b"])]
        case "page": script.interruptions = [Interruption(at: .registration, .html())]
        case "members twice": script.metadata.doubled = [.registration]
        default: script.interruptions = [Interruption(at: .registration, .html(status: 403))]
        }
        #expect(try await Self.failure(script) == .unsafe(.registration(refusal)))
    }

    // RFC 7591 §3.2.2
    @Test(arguments: ["invalid_redirect_uri", "invalid_client_metadata", "unapproved_software_statement"])
    func `a registration error of the standard is reported with its code`(code: String) async throws {
        var script = ServerScript()
        script.registration.refusal = code
        guard case .refused(let error)? = try await Self.failure(script) else {
            Issue.record("it was not refused")
            return
        }
        #expect(error.code.rawValue == code)
    }

    @Test func `server errors, redirects and overlong responses register nothing`() async throws {
        func script(_ answer: ScriptedAnswer) -> ServerScript {
            var script = ServerScript()
            script.interruptions = [Interruption(at: .registration, answer)]
            return script
        }
        guard case .unavailable? = try await Self.failure(script(.trouble(503, retryAfter: "1"))),
            case .unsafe(.redirected)? = try await Self.failure(
                script(.redirect(to: "{sibling}/register", status: 307))),
            case .unsafe(.transport(.tooLarge))? = try await Self.failure(script(.spaces(1_000_000)))
        else {
            Issue.record("one of them was taken for something else")
            return
        }
    }

    // No client is registered over http.
    @Test(arguments: ["http://evil.example.com/register", "javascript:alert(1)", "file:///etc/passwd"])
    func `a registration endpoint with an unsafe URL makes the server unusable`(address: String) async throws {
        var script = ServerScript()
        script.metadata.replaced = [WireMember("registration_endpoint", .text(address))]
        guard case .unsafe(.metadata(.badEndpoint("registration_endpoint", _)))? = try await Self.failure(script) else {
            Issue.record("it was taken")
            return
        }
    }

    @Test func `concurrent tasks register once`() async throws {
        let store = MemoryTokenStore()
        try await ScriptedAuthorizationServer.run { server in
            let names = try await withThrowingTaskGroup(of: ClientIdentifier.self) { group in
                for _ in 0..<8 {
                    let signIn = try Self.signIn(at: server, storedIn: store)
                    group.addTask { try await signIn.run().clientID }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(names.count == 1)
            #expect(server.requests(to: .registration).count == 1)
        }
    }

    // RFC 7592 §2.3 and §3
    @Test func `a registration can be deleted with its access token, which no other server gets`() async throws {
        let store = MemoryTokenStore()
        try await ScriptedAuthorizationServer.run(ServerScript.product(.oidcProvider)) { server in
            let signIn = try Self.signIn(at: server, storedIn: store)
            _ = try await signIn.run()
            let kept = try #require(store.registration(at: server.issuer))
            #expect(!"\(kept) \(String(reflecting: kept))".contains("rat-"))
            let registration = try #require(signIn.client.registration)
            #expect(try await registration.delete(at: server.issuer))
            #expect(store.registration(at: server.issuer) == nil)
            #expect(server.requests(to: .registrationManagement).map(\.method) == [.delete])
            #expect(try await !registration.delete(at: server.issuer))
            // A URL at another origin is not kept.
            server.change {
                $0.registration.replaced = [
                    WireMember("registration_client_uri", "https://evil.example.com/register/1")
                ]
            }
            _ = try await signIn.run()
            #expect(try await !registration.delete(at: server.issuer))
        }
    }

    // RFC 7591 §2 and §3
    @Test func `a registration carries an initial access token and the metadata of the software`() async throws {
        let store = MemoryTokenStore()
        var script = ServerScript()
        script.registration.initialAccessToken = "initial-token"
        try await ScriptedAuthorizationServer.run(script) { server in
            var signIn = try Self.signIn(at: server, storedIn: store)
            signIn.client.registration?.initialAccessToken = AccessToken("initial-token")
            signIn.client.registration?.metadata.clientURI = "https://lightbox.example"
            signIn.client.registration?.metadata.logoURI = "https://lightbox.example/logo.png"
            signIn.client.registration?.metadata.softwareID = "4f1a"
            signIn.client.registration?.metadata.softwareVersion = "2.1"
            _ = try await signIn.run()
            let request = try #require(server.requests(to: .registration).first?.json)
            #expect(request["client_uri"] == "https://lightbox.example")
            #expect(request["logo_uri"] == "https://lightbox.example/logo.png")
            #expect(request["software_id"] == "4f1a")
            #expect(request["software_version"] == "2.1")
        }
    }

    @Test func `a registration under another name is not used`() async throws {
        let store = MemoryTokenStore()
        try await ScriptedAuthorizationServer.run { server in
            let first = try await Self.signIn(at: server, storedIn: store).run()
            var other = try Self.signIn(at: server, storedIn: store)
            other.client.registration = .init(as: "Ledger", storedIn: store)
            #expect(try await other.run().clientID != first.clientID)
        }
    }

    @Test func `a client that keeps no refresh token does not register for one or request it`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.noPushedRequests)) { server in
            var signIn = try Self.signIn(
                at: server, storedIn: MemoryTokenStore(), scope: "openid offline_access photos.read")
            signIn.options.keepsRefreshToken = false
            _ = try await signIn.run()
            let registration = try #require(server.requests(to: .registration).first?.json)
            #expect(registration["grant_types"] == ["authorization_code"])
            let request = try #require(server.requests(to: .authorization).first?.query)
            #expect(request["scope"] == "openid photos.read")
            #expect(request["prompt"] == nil)
        }
    }

    // RFC 6749 §4.1.2.1: an error page about an unknown client does not redirect the user back.
    @Test func `a registration is discarded after a sign-in without a response`() async throws {
        let store = MemoryTokenStore()
        try await ScriptedAuthorizationServer.run { server in
            let first = try await Self.signIn(at: server, storedIn: store).run()
            server.change { $0.authorization.outcome = .page(400) }
            var stranded = try Self.signIn(at: server, storedIn: store)
            stranded.timeout = .milliseconds(300)
            await #expect(throws: SignInError.timedOut) { try await stranded.run() }
            server.change { $0.authorization.outcome = .code }
            #expect(try await Self.signIn(at: server, storedIn: store).run().clientID != first.clientID)
        }
    }

    // RFC 8628 §3.1
    @Test func `a device without a browser registers without redirect URIs`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store = MemoryTokenStore()
            var client = ClientIdentification()
            client.registration = .init(as: "Lightbox", storedIn: store)
            var signIn = DeviceSignIn(issuer: server.issuer, client: client)
            signIn.pause = { _ in }
            let credentials = try await signIn.run { _ in }
            #expect(credentials.clientID == store.registration(at: server.issuer)?.clientID)
            let request = try #require(server.requests(to: .registration).first?.json)
            #expect(
                request["grant_types"] == ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"])
            #expect(request["response_types"] == .list([]))
            #expect(request["redirect_uris"] == nil)
            #expect(request["application_type"] == "native")
        }
    }

    // OAuth Client ID Metadata Document §3
    @Test(arguments: [
        "http://lightbox.example/client.json", "https://lightbox.example", "https://lightbox.example/",
        "https://lightbox.example/a/../client.json", "https://lightbox.example/./client.json",
        "https://user@lightbox.example/client.json", "https://lightbox.example/client.json#a", "lightbox",
    ])
    func `a URL that cannot be a metadata document of a client is refused`(address: String) {
        #expect(throws: ClientMetadataDocument.Refusal.self) { try ClientMetadataDocument(address) }
    }
}
