import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import Testing

/// Tests of the built-in profiles, each at a server that behaves as the vendor's documentation describes.
@Suite(.timeLimit(.minutes(2)), .serialized)
struct VendorProfileTests {
    private static func refreshes(at server: ScriptedAuthorizationServer) -> [RecordedRequest] {
        SignedIn.refreshes(at: server)
    }

    @Test(arguments: PlayedVendor.all)
    func `a sign-in, a call and a refresh need nothing but the profile`(vendor: PlayedVendor) async throws {
        try await vendor.run { server in
            let transport = LeadingTransport(to: server)
            let credentials = try await vendor.signIn(over: transport).run()
            #expect(credentials.accessToken.exposed == server.accessTokens.last)
            let authorization = try #require(server.requests(to: .authorization).first)
            let challenge = authorization.query["code_challenge_method"]
            #expect(challenge == "S256" || !server.requests(to: .pushedAuthorization).isEmpty)

            let store: any TokenStore = MemoryTokenStore()
            try await store.save(credentials, as: .standard)
            // The credentials pass through the encoding of a store.
            let kept = try JSONDecoder().decode(Credentials.self, from: JSONEncoder().encode(credentials))
            #expect(kept == credentials)
            let session = TokenSession(ofAnyClientIn: store, transport: transport)
            #expect(try await session.get(server.url(of: .api)).statusCode == 200)
            guard vendor.profile.name != "github" else {
                #expect(credentials.refreshToken == nil)
                return
            }
            let fresh = try await session.refreshed(replacing: credentials.accessToken)
            #expect(fresh.accessToken.exposed == server.accessTokens.last)
            #expect(fresh.accessToken != credentials.accessToken)
            #expect(fresh.refreshToken?.exposed == server.refreshTokens.last)
            #expect(fresh.scope == credentials.scope)
            #expect(try await session.get(server.url(of: .api)).statusCode == 200)
        }
    }

    @Test func `FotoWare is sent no secret, and a new refresh token replaces the old one at once`() async throws {
        try await PlayedVendor.fotoware.run { server in
            let transport = LeadingTransport(to: server)
            let credentials = try await PlayedVendor.fotoware.signIn(over: transport).run()
            let request = try #require(server.requests(to: .token).first)
            #expect(
                request.form.names.sorted() == ["client_id", "code", "code_verifier", "grant_type", "redirect_uri"])
            #expect(server.requests(to: .authorization).first?.query["scope"] == nil)
            let store: any TokenStore = MemoryTokenStore()
            try await store.save(credentials, as: .standard)
            let session = TokenSession(ofAnyClientIn: store, transport: transport)
            for rotation in [RefreshTokenScript.Rotation.rotated(.isRefused), .never, .rotated(.isRefused)] {
                server.change { $0.refreshTokens.rotation = rotation }
                let stale = try await session.credentials().accessToken
                let fresh = try await session.refreshed(replacing: stale)
                #expect(fresh.refreshToken?.exposed == server.refreshTokens.last)
            }
            #expect(Self.refreshes(at: server).count == 3)
            #expect(
                Self.refreshes(at: server).allSatisfy { $0.form["client_secret"] == nil && $0.authorization == nil })
        }
    }

    // The message of FotoWeb about a license must not look as if the user had declined.
    @Test func `an error response of FotoWare keeps its description`() async throws {
        try await PlayedVendor.fotoware.run(
            changing: { $0.authorization.outcome = .error("access_denied", "Account not licensed") }
        ) { server in
            await #expect {
                try await PlayedVendor.fotoware.signIn(over: LeadingTransport(to: server)).run()
            } throws: {
                "\($0)" == "access was denied (Account not licensed)"
            }
        }
    }

    @Test func `iTwin uses one of its three ports and is refreshed ten minutes early`() async throws {
        try await PlayedVendor.itwin.run { server in
            let transport = LeadingTransport(to: server)
            let credentials = try await PlayedVendor.itwin.signIn(over: transport).run()
            let address = try #require(server.requests(to: .authorization).first?.query["redirect_uri"])
            #expect([31234, 41234, 51234].map { "http://localhost:\($0)/signin-callback" }.contains(address))
            #expect(credentials.scope.description == "itwin-platform offline_access")
            let store: any TokenStore = MemoryTokenStore()
            try await store.save(credentials, as: .standard)
            for (early, count) in [(650.0, 0), (590.0, 1)] {
                let session = TokenSession(
                    ofAnyClientIn: store, transport: transport, now: { Date().addingTimeInterval(3600 - early) })
                _ = try await session.credentials()
                #expect(Self.refreshes(at: server).count == count)
            }
        }
    }

    // RFC 8628 §3.5
    @Test(arguments: ["eu", "nowhere"])
    func `the device flow of Zoho continues in the user's data center if the profile lists it`(
        place: String
    ) async throws {
        var first = ServerScript.zohoForUserElsewhere
        first.publicOrigin = "https://accounts.zoho.com"
        first.device.polls = [.pending, .otherDataCentre(place)]
        var second = ServerScript.zohoSecondDataCentre
        second.publicOrigin = "https://accounts.zoho.eu"
        try await ScriptedAuthorizationServer.run(first, sibling: second) { us, eu in
            var profile = ServerProfile.zoho
            guard case .addresses(var addresses) = profile.location else { return }
            addresses.deviceAuthorization = us.url(of: .deviceAuthorization)
            profile.location = .addresses(addresses)
            let vendor = try VendorServer(profile)
            var signIn = DeviceSignIn(issuer: vendor.issuer, clientID: try #require(ClientIdentifier("lightbox")))
            signIn.vendor = vendor
            signIn.transport = LeadingTransport(to: us, eu)
            signIn.options.authentication = try PlayedVendor.zoho.authentication
            signIn.pause = { _ in }
            let prepared = signIn
            if place == "eu" {
                let credentials = try await prepared.run { _ in }
                #expect(credentials.details["accounts-server"] == eu.origin)
                #expect(us.requests(to: .token).count == 2)
                #expect(eu.requests(to: .token).count == 1)
            } else {
                await #expect(throws: SignInError.self) { try await prepared.run { _ in } }
                #expect(eu.requests.isEmpty)
            }
        }
    }

    @Test func `the code of Zoho is redeemed in the user's data center, and so is every refresh`() async throws {
        var first = ServerScript.zohoForUserElsewhere
        first.publicOrigin = "https://accounts.zoho.com"
        var second = ServerScript.zohoSecondDataCentre
        second.publicOrigin = "https://accounts.zoho.eu"
        try await ScriptedAuthorizationServer.run(first, sibling: second) { us, eu in
            let transport = LeadingTransport(to: us, eu)
            let credentials = try await PlayedVendor.zoho.signIn(over: transport).run()
            #expect(us.requests(to: .token).isEmpty)
            #expect(us.requests(to: .authorization).first?.query["access_type"] == "offline")
            #expect(us.requests(to: .authorization).first?.query["prompt"] == "consent")
            #expect(
                us.requests(to: .authorization).first?.query["scope"] == "ZohoCRM.modules.ALL,ZohoCRM.users.READ")
            #expect(credentials.details == ["accounts-server": eu.origin, "api_domain": eu.origin])
            let life = try #require(credentials.expires?.timeIntervalSinceNow)
            #expect((3500...3600).contains(life))

            let store: any TokenStore = MemoryTokenStore()
            try await store.save(credentials, as: .standard)
            let session = TokenSession(
                issuer: credentials.issuer, clientID: credentials.clientID, store: store,
                origins: [try APIOrigin(eu.origin)], transport: transport)
            // A refresh does not repeat the URL of the API, which is kept.
            eu.change { $0.tokens.extras = [] }
            let fresh = try await session.refreshed(replacing: credentials.accessToken)
            #expect(fresh.details == credentials.details)
            #expect(fresh.refreshToken == credentials.refreshToken)
            #expect(us.requests(to: .token).isEmpty)
            #expect(eu.requests(to: .token).allSatisfy { $0.form["client_secret"] != nil })
            let call = try await session.get(eu.url(of: .api))
            #expect(call.statusCode == 200)
            #expect(eu.requests(to: .api).last?.authorization?.hasPrefix("Zoho-oauthtoken ") == true)
            #expect(try await session.signOut() == .revoked)
            #expect(us.requests(to: .revocation).isEmpty)
            #expect(!eu.requests(to: .revocation).isEmpty)
        }
    }

    @Test(arguments: [
        "https://accounts.zoho.example.com", "https://accounts.zoho.eu.example.com", "http://127.0.0.1:1",
    ])
    func `a data center that is not listed receives no request`(named origin: String) async throws {
        try await PlayedVendor.zoho.run(
            changing: { $0.authorization.extras = [WireMember("accounts-server", .text(origin))] }
        ) { server in
            await #expect {
                var signIn = try PlayedVendor.zoho.signIn(over: LeadingTransport(to: server))
                signIn.timeout = .seconds(2)
                _ = try await signIn.run()
            } throws: {
                if case .unsafe(.callback) = $0 as? SignInError { true } else { false }
            }
            #expect(server.requests(to: .token).isEmpty)
        }
    }

    @Test(arguments: [200, 400])
    func `throttling by Zoho does not end a session, an invalid code does`(status: Int) async throws {
        try await PlayedVendor.zoho.run { server in
            let transport = LeadingTransport(to: server)
            let credentials = try await PlayedVendor.zoho.signIn(over: transport).run()
            let store: any TokenStore = MemoryTokenStore()
            try await store.save(credentials, as: .standard)
            let session = TokenSession(ofAnyClientIn: store, transport: transport)
            server.change { $0.interruptions = [Interruption(at: .token, ServerScript.zohoThrottle(status: status))] }
            await #expect {
                try await session.refreshed(replacing: credentials.accessToken)
            } throws: {
                guard case .unavailable(.unavailable(let failure)) = $0 as? SessionError else { return false }
                return (failure.retryAfter ?? .zero) >= .seconds(60)
            }
            #expect(try await store.credentials(of: .standard) == credentials)
            server.change { $0.interruptions = [] }
            server.revokeEverything()
            // The first store still contains the time to wait.
            let other: any TokenStore = MemoryTokenStore()
            try await other.save(credentials, as: .standard)
            await #expect {
                try await TokenSession(ofAnyClientIn: other, transport: transport)
                    .refreshed(replacing: credentials.accessToken)
            } throws: {
                if case .ended(.refused, _) = $0 as? SessionError { true } else { false }
            }
        }
    }

    @Test func `GitHub's refusals with the status 200 are refusals`() async throws {
        try await PlayedVendor.github.run { server in
            server.change {
                $0.interruptions = [
                    Interruption(
                        at: .token, .json("{\"error\":\"bad_verification_code\",\"error_description\":\"no\"}"))
                ]
            }
            await #expect(throws: SignInError.refused(OAuthError(.invalidGrant, "no"))) {
                try await PlayedVendor.github.signIn(over: LeadingTransport(to: server)).run()
            }
        }
    }

    // RFC 8628 §3.5
    @Test(arguments: [PlayedVendor.github, .google, .microsoft, .okta, .auth0])
    func `the device flow works with the vendor's deviations`(vendor: PlayedVendor) async throws {
        try await vendor.run { server in
            let at = try VendorServer(vendor.profile, at: vendor.place)
            var signIn = DeviceSignIn(
                at: at, clientID: try #require(ClientIdentifier("lightbox")), scope: try Scope(lenient: vendor.scope))
            signIn.transport = LeadingTransport(to: server)
            // GitHub requires no secret for the device flow.
            if vendor.profile.name != "github" { signIn.options.authentication = try vendor.authentication }
            signIn.pause = { _ in }
            let credentials = try await signIn.run { instructions in
                #expect(instructions.userCode == "BDWP-HQPK")
                #expect(instructions.verificationURI.rawValue.hasPrefix(server.origin))
            }
            #expect(credentials.accessToken.exposed == server.accessTokens.last)
        }
    }

    @Test func `a response of Slack with ok false is an error`() async throws {
        try await PlayedVendor.slack.run { server in
            server.change {
                $0.interruptions = [Interruption(at: .token, .json("{\"ok\":false,\"error\":\"invalid_code\"}"))]
            }
            await #expect {
                try await PlayedVendor.slack.signIn(over: LeadingTransport(to: server)).run()
            } throws: {
                guard case .refused(let refusal) = $0 as? SignInError else { return false }
                return refusal.code == .invalidGrant
            }
            #expect(server.requests(to: .authorization).first?.query["user_scope"] == "users:read,files:read")
            #expect(server.requests(to: .authorization).first?.query["scope"] == nil)
        }
    }

    @Test func `the issuer of Auth0 keeps its slash, and Microsoft's multi-tenant issuer is refused`() async throws {
        try await PlayedVendor.auth0.run { server in
            let credentials = try await PlayedVendor.auth0.signIn(over: LeadingTransport(to: server)).run()
            #expect(credentials.issuer.rawValue == "https://example.eu.auth0.com/")
        }
        var script = ServerScript.microsoftForEveryTenant
        script.publicOrigin = "https://login.microsoftonline.com"
        try await ScriptedAuthorizationServer.run(script) { server in
            let transport = LeadingTransport(to: server)
            let common = try VendorServer(.microsoft, at: "common")
            await #expect {
                try await common.configuration(transport: transport)
            } throws: { error in
                guard case .unsafe(.metadata(.wrongIssuer(let named, let requested))) = error as? SignInError else {
                    return false
                }
                return named.contains("{tenantid}") && requested == common.issuer
            }
        }
    }

    // OpenID Connect Core §11: a consent page at each sign-in, or none if the vendor does not require it.
    @Test(arguments: [PlayedVendor.okta, .auth0, .microsoft])
    func `offline_access needs no prompt=consent if the profile says so`(vendor: PlayedVendor) async throws {
        try await vendor.run { server in
            for needsConsent in [false, true] {
                var profile = vendor.profile
                #expect(!profile.behavior.requiresConsentForOfflineAccess)
                profile.behavior.requiresConsentForOfflineAccess = needsConsent
                let credentials = try await vendor.signIn(with: profile, over: LeadingTransport(to: server)).run()
                #expect(credentials.refreshToken != nil)
                // The request of Okta is pushed.
                let pushed = server.requests(to: .pushedAuthorization).last?.form
                let request = try #require(pushed ?? server.requests(to: .authorization).last?.query)
                #expect(request["scope"]?.contains("offline_access") == true)
                #expect(request["prompt"] == (needsConsent ? "consent" : nil))
            }
        }
    }

    @Test func `a profile is unchanged after it is encoded and decoded`() throws {
        for profile in ServerProfile.builtIn {
            let read = try JSONDecoder().decode(ServerProfile.self, from: JSONEncoder().encode(profile))
            #expect(read == profile)
            #expect(ServerProfile.named(profile.name.uppercased()) == profile)
            #expect(!profile.advice.isEmpty)
        }
        #expect(ServerProfile.builtIn.map(\.name) == ServerProfile.builtIn.map(\.name).sorted())
        #expect(ServerProfile.named("nobody") == nil)
    }

    // RFC 3986 §3.2.2: user input for a host cannot become another URL.
    @Test(arguments: ["evil.example.com/x?", "a@b", "a b", "-a", "a..b", "a:99999", "{host}", "", "a#b"])
    func `an invalid host is refused`(host: String) {
        #expect(throws: VendorServer.Refusal.self) { try VendorServer(.fotoware, at: host) }
    }
}
