import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Sessions, tokens, codes and requests from before a copy, at the restored server.
@Suite(.timeLimit(.minutes(10)))
struct RestoredArtefactTests {
    /// The artefacts that a server issued before the copy.
    private struct Issued {
        let clientID: String
        let deviceClientID: String
        /// A browser with a session.
        let browser: UserAgent
        let accessToken: String
        let initialAccessToken: String
        /// A request whose code was not redeemed.
        let request: ClientAuthorizationRequest
        let code: String
        let requestURI: String
        let deviceCode: String
    }

    @Test(arguments: [true, false])
    func `a restore ends codes and waiting requests, and with --end-sign-ins every sign-in and token`(
        withJournal isKept: Bool
    ) async throws {
        try await Site.make { site in
            let (copy, journal) = (site.folder.path("counterfoil.copy"), site.folder.path("endings"))
            let (clientID, deviceClientID) = try await Self.prepare(site)
            let server = try await site.start(options: ["--endings-journal", journal])
            let (issued, keys) = try await server.whileRunning {
                let issued = try await Self.issue(at: site, to: clientID, deviceClientID)
                let made = try await site.administer(["backup", "--output", copy])
                #expect(made.status == 0, "\(made.errors)")
                try await Self.expectSignIn(issued, at: site, isAccepted: true)
                #expect(try await Self.poll(issued, at: site) == "authorization_pending")
                return (issued, try await Self.keys(of: site))
            }
            _ = try RestoredCopyTests.prepareDirectory(of: site)
            let restored = try await site.server(
                ["restore", copy, "--data-dir", site.dataDirectory]
                    + (isKept ? ["--endings-journal", journal] : ["--end-sign-ins"]))
            #expect(restored.status == 0, "\(restored.errors)")
            try await site.serving {
                try await Self.expectSignIn(issued, at: site, isAccepted: isKept)
                // APIs that verify access tokens themselves read these keys.
                #expect(try await Self.keys(of: site).isDisjoint(with: keys) == !isKept)

                let redeemed = try await issued.request.redeem(issued.code)
                #expect(redeemed.status == 400 && redeemed.body.contains("\"invalid_grant\""), "\(redeemed.body)")
                #expect(try await Self.poll(issued, at: site) == "invalid_grant")
                let query = FormParameters(["client_id": clientID, "request_uri": issued.requestURI])
                var browser = issued.browser
                let page = try await browser.open("\(site.issuer)/oauth2/authorize?\(query.encoded)")
                #expect(page.status == 400, "\(page.text)")
            }
        }
    }

    /// Checks whether a session, an access token and an initial access token are accepted.
    private static func expectSignIn(_ issued: Issued, at site: Site, isAccepted: Bool) async throws {
        var browser = issued.browser
        let page = try await browser.open(ClientAuthorizationRequest(site, issued.clientID).url)
        #expect(page.status == 200)
        let asksForPassword = (try? page.form(with: "password")) != nil
        #expect(asksForPassword == !isAccepted, "\(page.text)")

        var client = UserAgent()
        let userInfo = try await client.send(
            .get, site.issuer + "/oauth2/userinfo", headers: ["authorization": "Bearer \(issued.accessToken)"])
        #expect(userInfo.status == (isAccepted ? 200 : 401), "\(userInfo.body)")

        let metadata: [String: Any] = [
            "redirect_uris": ["http://127.0.0.1/callback"], "application_type": "native",
        ]
        let registered = try await client.send(
            .post, site.issuer + "/oauth2/register",
            headers: [
                "content-type": "application/json", "authorization": "Bearer \(issued.initialAccessToken)",
            ], body: Array(try JSONSerialization.data(withJSONObject: metadata)))
        #expect(registered.status == (isAccepted ? 201 : 401), "\(registered.body)")
    }

    /// Polls for the device, and returns the error.
    private static func poll(_ issued: Issued, at site: Site) async throws -> String? {
        var device = UserAgent()
        let answer = try await device.send(
            .post, site.issuer + "/oauth2/token",
            form: FormParameters([
                "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "client_id": issued.deviceClientID,
                "device_code": issued.deviceCode,
            ]))
        return try members(of: answer)["error"] as? String
    }

    /// The identifiers of the signing keys that a server publishes.
    private static func keys(of site: Site) async throws -> Set<String> {
        var agent = UserAgent()
        let keys = try members(of: try await agent.open(site.issuer + "/oauth2/jwks"))["keys"] as? [[String: Any]]
        let identifiers = Set(try #require(keys).compactMap { $0["kid"] as? String })
        #expect(!identifiers.isEmpty)
        return identifiers
    }

    /// Adds a user and the clients, and accepts registrations with an initial access token.
    private static func prepare(_ site: Site) async throws -> (clientID: String, deviceClientID: String) {
        try await site.add(.alice)
        try await site.addScope("photos.read", "See your photos and albums")
        let edited = try await site.administer([
            "unregistered", "edit", "--accept", "registration", "--require-initial-access-token", "true",
        ])
        #expect(edited.status == 0, "\(edited.errors)")
        let created = try await site.administer([
            "app", "create", "--type", "device", "--name", "Frame", "--scope", "openid", "--json",
        ])
        let members = try JSONSerialization.jsonObject(with: Data(created.output.utf8)) as? [String: Any]
        return (try await site.registerClient(), try #require(members?["client_id"] as? String))
    }

    private static func issue(
        at site: Site, to clientID: String, _ deviceClientID: String
    ) async throws -> Issued {
        var (browser, agent) = (UserAgent(), UserAgent())
        let (first, request) = (ClientAuthorizationRequest(site, clientID), ClientAuthorizationRequest(site, clientID))
        let tokens = try await first.redeem(
            try await Account.alice.answer("allow", at: first.url, in: &browser).code)
        let added = try await site.administer(["registration-token", "add", "Build system"])
        let device = try await agent.send(
            .post, site.issuer + "/oauth2/device_authorization",
            form: FormParameters(["client_id": deviceClientID, "scope": "openid"]))
        let pushed = try await agent.send(.post, site.issuer + "/oauth2/par", form: request.parameters)
        return Issued(
            clientID: clientID, deviceClientID: deviceClientID, browser: browser,
            accessToken: try #require(try members(of: tokens)["access_token"] as? String),
            initialAccessToken: try #require(added.output.wholeMatch(of: /token: (\S+)\n/)?.output.1.description),
            request: request,
            code: try await Account.alice.answer("allow", at: request.url, in: &browser).code,
            requestURI: try #require(try members(of: pushed)["request_uri"] as? String),
            deviceCode: try #require(try members(of: device)["device_code"] as? String))
    }

    private static func members(of page: WebPage) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(page.body.utf8)) as? [String: Any])
    }
}
