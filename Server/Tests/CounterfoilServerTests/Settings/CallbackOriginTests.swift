import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The second origin of a server, which has the callback URLs of native clients and nothing else.
struct CallbackOriginTests {
    private static let issuer = "https://id.example.com"
    private static let origin = "https://cb.example.com"

    private static func server() async throws -> TestServer {
        try await TestServer(issuer: issuer) { settings in
            settings.callbackOrigin = try? CallbackOrigin(origin, issuer: settings.issuer)
        }
    }

    /// Returns the outcome for a request, as the web layer asks for it.
    private static func outcome(_ host: String?, _ path: String, _ test: TestServer) -> Routing.Outcome {
        test.server.routing
            .outcome(of: HTTPRequest(method: .get, scheme: nil, authority: host, path: path), path: path)
    }

    @Test(arguments: [
        "cb.example.com", "http://cb.example.com", "https://cb.example.com/", "https://cb.example.com:443",
        "https://cb.example.com:8443", "https://CB.example.com", "https://cb.example.com.", "https://a@cb.example.com",
        "https://127.0.0.1", "https://[::1]", "https://localhost", "https://cb.localhost", "https://", "",
        "https://cb.example.com?a=b", "https://cb.example.com#a", "https://cb example.com",
    ])
    func `anything but https and a host name is refused`(text: String) throws {
        let issuer = try Issuer(Self.issuer)
        #expect(throws: CallbackOrigin.Refusal.form) { try CallbackOrigin(text, issuer: issuer) }
    }

    @Test(arguments: [issuer, "https://id.example.com:8443", "https://id.example.com/tenant1"])
    func `the host of the issuer is refused as the second origin`(issuer: String) throws {
        let issuer = try Issuer(issuer)
        #expect(throws: CallbackOrigin.Refusal.hostOfIssuer) {
            try CallbackOrigin("https://id.example.com", issuer: issuer)
        }
    }

    // The host name may have any spelling.
    @Test(arguments: [
        "cb.example.com", "CB.Example.com", "cb.example.com.", "cb.example.com:443", "cb.example.com:8443",
    ])
    func `the second origin has no sign-in page`(host: String) async throws {
        let test = try await Self.server()
        let open: Set<Endpoint> = [
            .callback, .appleAssociation, .androidAssociation, .liveness, .readiness, .processReadiness,
        ]
        for endpoint in Endpoint.protocolEndpoints + ServerPages.console.endpoints {
            for path in endpoint.paths(of: test.issuer) {
                let path = path.replacing("{client_id}", with: "app_lightbox").replacing(
                    "{logo}", with: "0123456789abcdef")
                let outcome = Self.outcome(host, path, test)
                if open.contains(endpoint) {
                    #expect(outcome.route?.endpoint == endpoint, "\(path)")
                } else {
                    #expect(outcome == .notAtCallbackOrigin, "\(path)")
                }
            }
        }
    }

    @Test(arguments: ["id.example.com", "ID.example.com", "id.example.com.", "id.example.com:443"])
    func `the origin of the issuer has all pages`(host: String) async throws {
        let test = try await Self.server()
        #expect(Self.outcome(host, "/oauth2/authorize", test).route?.endpoint == .authorization)
        #expect(Self.outcome(host, "/callback/app_lightbox", test).route?.endpoint == .callback)
        #expect(Self.outcome(host, "/nothing", test) == .noEndpoint)
    }

    // RFC 9110 §15.5.20: behind a proxy that replaces the Host field, the second origin would have a sign-in page.
    @Test(arguments: ["127.0.0.1:8080", "localhost", "cb.example.com.evil.example", "", "evil.example", nil])
    func `a request for another host is misdirected, except a health check`(host: String?) async throws {
        let test = try await Self.server()
        for path in ["/oauth2/authorize", "/callback/app_lightbox", "/", "/.well-known/apple-app-site-association"] {
            #expect(Self.outcome(host, path, test) == .misdirected, "\(path)")
        }
        #expect(Self.outcome(host, "/livez", test).route?.endpoint == .liveness)
        // With one origin only, the host name does not matter.
        let single = try await TestServer(issuer: Self.issuer)
        #expect(Self.outcome(host, "/oauth2/authorize", single).route?.endpoint == .authorization)
    }

    @Test func `the second origin has no path of the issuer`() async throws {
        let test = try await TestServer(issuer: "https://id.example.com/tenant1") { settings in
            settings.callbackOrigin = try? CallbackOrigin(Self.origin, issuer: settings.issuer)
        }
        #expect(Self.outcome("cb.example.com", "/callback/app_lightbox", test).route?.endpoint == .callback)
        #expect(Self.outcome("cb.example.com", "/tenant1/callback/app_lightbox", test) == .notAtCallbackOrigin)
    }

    // The same rules as for the callback URL at the issuer.
    @Test(arguments: [
        ("https://cb.example.com/callback/app_darkroom", true), ("https://cb.example.com/callback/app_other", false),
        ("https://cb.example.com/callback/app_darkroom/", false), ("https://cb.example.com/", false),
        ("https://cb.example.com/callback/app_darkroom?a=b", false), ("https://cb.example.com:8443/x", false),
        ("https://cb.example.com./callback/app_darkroom", false),
        ("https://CB.example.com/callback/app_darkroom", false),
        ("https://other.example.com/callback/app_darkroom", true),
    ])
    func `one URL of the second origin can be a redirect URI`(text: String, isAccepted: Bool) throws {
        let issuer = try Issuer(Self.issuer)
        let id = try #require(ClientIdentifier("app_darkroom"))
        let callbackOrigin = try CallbackOrigin(Self.origin, issuer: issuer)
        let verdict = RedirectURIRegistration.verdict(
            on: text,
            for: RedirectURIContext(type: .native, clientID: id, issuer: issuer, callbackOrigin: callbackOrigin))
        if case .refused(let refusal) = verdict { #expect(refusal == .ownOrigin) }
        if case .accepted = verdict { #expect(isAccepted) } else { #expect(!isAccepted) }

        let client = RegisteredClient(
            id: id, type: .native, presentation: ClientPresentation(name: "Darkroom"),
            redirectURIs: [try RedirectURI(text)], scope: Scope([]), policy: ClientPolicy(), createdAt: .distantPast)
        let match = RedirectURIMatching.verdict(
            on: text, of: client, asksForOpenID: false, issuer: issuer, callbackOrigin: callbackOrigin,
            allowsDevelopment: true)
        if case .matches = match { #expect(isAccepted) } else { #expect(match == .refused(.ownOrigin) && !isAccepted) }
    }

    // The authorization endpoint also refuses redirect URIs that were registered before the origin was set.
    @Test func `a code is never sent to another URL of the second origin`() async throws {
        let test = try await Self.server()
        let client = try await test.register("Darkroom", redirectURIs: ["https://cb.example.com/elsewhere"])
        let reply = try await Attempt(test, by: client, at: "https://cb.example.com/elsewhere").firstReply()
        #expect(reply.status == .badRequest)
        #expect(reply.location == nil)
    }

    // RFC 8252 §8.6: another client's app at the second origin could have started the request.
    @Test(arguments: [(issuer, true), (origin, false)])
    func `a remembered consent does not count for a verified URL at the second origin`(
        origin: String, isRemembered: Bool
    ) async throws {
        let test = try await Self.server()
        var policy = ClientPolicy.standard(for: .native)
        policy.isClaimedHTTPSVerified = true
        policy.isVouchedFor = true
        let uri = "\(origin)/callback/app_darkroom"
        let client = try await test.register("Darkroom", redirectURIs: [uri], policy: policy)
        let attempt = Attempt(test, by: client, at: uri)
        var browser = test.browser()
        _ = try await attempt.authorize(with: &browser).code
        let again = try await browser.open(attempt.url)
        if isRemembered {
            // The browser continues to the callback page immediately.
            let isCallbackPage = again.page is AppLinkPage
            #expect(isCallbackPage)
        } else {
            _ = try again.consentPage
        }
    }

    // Only native clients have callback URLs, whatever is in the store.
    @Test(arguments: [issuer, origin])
    func `a single-page app gets no code at an origin of the server`(origin: String) async throws {
        let test = try await Self.server()
        var policy = ClientPolicy.standard(for: .singlePage)
        policy.isClaimedHTTPSVerified = true
        policy.isVouchedFor = true
        let uri = "\(origin)/callback/app_darkroom"
        let client = try await test.register("Darkroom", type: .singlePage, redirectURIs: [uri], policy: policy)
        let reply = try await Attempt(test, by: client, at: uri).firstReply()
        #expect(reply.status == .badRequest && reply.location == nil)
        _ = try reply.problemPage
    }

    // MARK: - Association files

    private static func apple(_ test: TestServer, host: String?) async throws -> [String: Any] {
        let request = IncomingRequest(
            head: HTTPRequest(
                method: .get, scheme: nil, authority: host, path: "/.well-known/apple-app-site-association"),
            source: "192.0.2.1", id: "request")
        let reply = await test.server.respond(to: request, at: .appleAssociation)
        return try #require(try JSONSerialization.jsonObject(with: Data(try reply.json)) as? [String: Any])
    }

    private static func add(
        _ name: String, to test: TestServer, at origin: String, app: String, isVerified: Bool = true,
        isFirstParty: Bool = false
    ) async throws {
        var policy = ClientPolicy.standard(for: .native)
        policy.isClaimedHTTPSVerified = isVerified
        policy.isFirstParty = isFirstParty
        _ = try await test.register(
            name, redirectURIs: ["\(origin)/callback/app_\(name.lowercased())"], appleApps: [app], policy: policy)
    }

    private static func credentials(_ file: [String: Any]) -> [String]? {
        (file["webcredentials"] as? [String: [String]])?["apps"]
    }

    // An https callback of ASWebAuthenticationSession needs webcredentials.
    @Test func `at the issuer only the owner's verified apps get webcredentials`() async throws {
        let test = try await TestServer(issuer: Self.issuer)
        try await Self.add("Own", to: test, at: Self.issuer, app: "A1B2C3D4E5.com.example.own", isFirstParty: true)
        try await Self.add("Other", to: test, at: Self.issuer, app: "F6G7H8J9K0.com.example.other")
        try await Self.add(
            "Unverified", to: test, at: Self.issuer, app: "F6G7H8J9K0.com.example.none", isVerified: false,
            isFirstParty: true)
        let file = try await Self.apple(test, host: nil)
        #expect(Self.credentials(file) == ["A1B2C3D4E5.com.example.own"])
        #expect(((file["applinks"] as? [String: Any])?["details"] as? [Any])?.count == 2)
    }

    @Test func `at the second origin every verified app of that origin gets webcredentials`() async throws {
        let test = try await Self.server()
        try await Self.add("Own", to: test, at: Self.issuer, app: "A1B2C3D4E5.com.example.own", isFirstParty: true)
        try await Self.add("Other", to: test, at: Self.origin, app: "F6G7H8J9K0.com.example.other")
        try await Self.add(
            "Unverified", to: test, at: Self.origin, app: "F6G7H8J9K0.com.example.none", isVerified: false)
        let second = try await Self.apple(test, host: "cb.example.com")
        #expect(Self.credentials(second) == ["F6G7H8J9K0.com.example.other"])
        let main = try await Self.apple(test, host: "id.example.com")
        #expect(Self.credentials(main) == ["A1B2C3D4E5.com.example.own"])
        #expect(!"\(main)".contains("com.example.other") && !"\(second)".contains("com.example.own"))
    }

    @Test func `a file without webcredentials omits the member`() async throws {
        let test = try await TestServer(issuer: Self.issuer)
        #expect(try await Self.apple(test, host: nil).keys.sorted() == ["applinks"])
    }
}
