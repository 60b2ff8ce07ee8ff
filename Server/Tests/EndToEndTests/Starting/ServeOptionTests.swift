import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// The options of `serve`.
@Suite(.timeLimit(.minutes(10)))
struct ServeOptionTests {
    // The command line accepts the schemes that the last started server accepts, with a warning, and no
    // others.
    @Test func `a plain scheme that the server allows is accepted by the command line`() async throws {
        let address = "myeditor://example.lightbox/callback"
        func create(_ site: Site) async throws -> EndedProgram {
            try await site.administer([
                "app", "create", "--type", "native", "--name", "Lightbox", "--redirect-uri", address, "--scope",
                "photos.read",
            ])
        }
        try await Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            let before = try await create(site)
            #expect(before.status == 3)
            #expect(before.errors.contains("--redirect-uri: "))
            try await site.start(options: ["--plain-scheme", "myeditor"]).whileRunning {
                let created = try await create(site)
                #expect(created.status == 0)
                #expect(created.errors.contains("warning: \(address): "))
            }
            // The last started server decides, whether it still runs or not.
            #expect(try await create(site).status == 0)
            try await site.serving {}
            #expect(try await create(site).status == 3)
        }
    }

    @Test func `development redirect URIs can be switched off`() async throws {
        let address = "http://localhost:5173/callback"
        func create(_ site: Site) async throws -> EndedProgram {
            try await site.administer([
                "app", "create", "--type", "web", "--name", "Gallery", "--redirect-uri", address, "--scope", "openid",
                "--json",
            ])
        }
        try await Site.make { site in
            let created = try await create(site)
            #expect(created.status == 0)
            let client = try JSONSerialization.jsonObject(with: Data(created.output.utf8)) as? [String: Any]
            let id = try #require(client?["client_id"] as? String)
            let request = FormParameters([
                "response_type": "none", "client_id": id, "redirect_uri": address, "scope": "openid", "state": "a",
            ])
            try await site.start(options: ["--no-development-redirect-uris"]).whileRunning {
                let refused = try await create(site)
                #expect(refused.status == 3)
                #expect(refused.errors.contains("--no-development-redirect-uris"))
                let check = try await site.administer(["app", "check", id, address])
                #expect(check.status == 1)
                #expect(check.output.contains("--no-development-redirect-uris"))
                var browser = UserAgent()
                let answer = try await browser.send(.get, site.issuer + "/oauth2/authorize?" + request.encoded)
                #expect(answer.status == 400)
            }
            try await site.serving {
                var browser = UserAgent()
                let answer = try await browser.send(.get, site.issuer + "/oauth2/authorize?" + request.encoded)
                #expect(answer.header("location")?.hasPrefix(address + "?error=unsupported_response_type") == true)
            }
            #expect(try await site.administer(["app", "check", id, address]).status == 0)
        }
    }

    @Test func `the metrics are served at each address of a name, and nothing else is`() async throws {
        try await Site.make { site in
            let server = try await site.start(options: ["--log-format", "json", "--metrics-listen", "localhost:0"])
            try await server.whileRunning {
                let metrics = try await server.said("where metrics are") { program in
                    try program.logEvents.first { $0["message"] == "started the metrics server" }?["url"]
                }
                let port = try #require(
                    metrics.wholeMatch(of: /http:\/\/localhost:(\d+)\/metrics/)?.output.1)
                var agent = UserAgent()
                for address in try Self.addressesOfLocalhost() {
                    let page = try await agent.send(.get, "http://\(address):\(port)/metrics?")
                    #expect(page.status == 200)
                    #expect(page.body.contains("\ncounterfoil_uptime_seconds "))
                }
                #expect(try await agent.send(.get, "http://127.0.0.1:\(port)/").status == 404)
                let posted = try await agent.send(.post, "http://127.0.0.1:\(port)/metrics")
                #expect(posted.status == 405)
                #expect(posted.header("allow") == "GET")
            }
        }
    }

    /// Returns the addresses of `localhost` on this machine, as in a URL; some have no IPv6.
    private static func addressesOfLocalhost() throws -> [String] {
        let entries = try String(contentsOfFile: "/etc/hosts", encoding: .utf8).split(separator: "\n")
        return [("127.0.0.1", "127.0.0.1"), ("::1", "[::1]")].filter { address, _ in
            entries.contains { line in
                let words = line.split(whereSeparator: \.isWhitespace)
                return words.first == address[...] && words.dropFirst().contains("localhost")
            }
        }.map(\.1)
    }

    @Test func `with --log-format json each message of the start is a JSON object at every log level`() async throws {
        try await Site.make { site in
            let server = try await site.start(options: [
                "--log-format", "json", "--log-level", "error", "--metrics-listen", "127.0.0.1:0",
            ])
            try await server.whileRunning {
                let events = try await server.said("three messages") { program in
                    let events = try program.logEvents
                    return events.count == 3 ? events : nil
                }
                func event(_ message: String) throws -> [String: String] {
                    try #require(events.first { $0["message"] == message })
                }
                let start = try event("started the server")
                #expect(start["issuer"] == site.issuer)
                #expect(start["host"] == "127.0.0.1")
                #expect(start["port"] == "\(site.port)")
                #expect(start["level"] == "notice")
                #expect(start["time"]?.isEmpty == false)
                let link = try event("created the link for the first administrator")["link"]
                #expect(link?.hasPrefix(site.issuer + "/setup?token=") == true)
                let metrics = try event("started the metrics server")["url"]
                #expect(metrics?.wholeMatch(of: /http:\/\/127\.0\.0\.1:\d+\/metrics/) != nil)
            }
        }
    }

    @Test func `a mistyped variable of the environment is a warning at the start`() async throws {
        try await Site.make { site in
            let server = try await site.start(
                options: ["--log-format", "json"], environment: ["COUNTERFOIL_ACESS_TOKEN_LIFETIME": "5m"])
            try await server.whileRunning {
                let event = try #require(
                    try server.logEvents.first { $0["message"] == "ignored an unknown environment variable" })
                #expect(event["level"] == "warning")
                #expect(event["variable"] == "COUNTERFOIL_ACESS_TOKEN_LIFETIME")
                #expect(event["advice"] == "the nearest known name is COUNTERFOIL_ACCESS_TOKEN_LIFETIME")
            }
        }
    }

    @Test func `plain HTTP for an https issuer is a warning, unless a proxy can be in front`() async throws {
        let message = "serving plain HTTP for an https issuer, and no proxy is trusted"
        func warning(_ issuer: String?, listen: [String]? = nil, _ options: [String] = []) async throws
            -> [String: String]?
        {
            try await Site.make { site in
                let server = try await site.start(
                    issuer: issuer, listen: listen?.map { $0.replacing("FOLDER", with: site.folder.url.path) },
                    options: ["--log-format", "json"] + options)
                return try await server.whileRunning { try server.logEvents.first { $0["message"] == message } }
            }
        }
        let issuer = "https://id.example.com"
        let given = try #require(try await warning(issuer))
        #expect(given["level"] == "warning")
        #expect(given["listen"]?.hasPrefix("127.0.0.1:") == true)
        #expect(given["advice"]?.contains("trusted-proxy") == true)
        #expect(try await warning(nil) == nil)
        #expect(try await warning(issuer, ["--trusted-proxy", "127.0.0.1"]) == nil)
        #expect(try await warning(issuer, listen: ["unix:FOLDER/http.sock"]) == nil)
        let acme = ["--acme-contact", "owner@example.com", "--acme-terms-agreed"]
        #expect(try await warning(issuer, acme + ["--acme-directory", "https://127.0.0.1:1/"]) == nil)
    }

    // The operator decides who can register clients.
    @Test func `if only administrators register clients, other users are refused at the page`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            for (options, status) in [([], 200), (["--registration", "administrators"], 403)] {
                try await site.start(options: options).whileRunning {
                    var browser = UserAgent()
                    let page = try await Account.alice.signIn(site.issuer + "/apps/new", in: &browser)
                    #expect(page.status == status)
                }
            }
        }
    }

    // The limits for wrong passwords.
    @Test(arguments: [(["--failures-per-person", "2"], 2), (["--failures-per-source", "1"], 1)])
    func `wrong passwords throttle sign-ins at the configured limit`(options: [String], allowed: Int) async throws {
        try await Site.make { site in
            try await site.add(.alice)
            try await site.start(options: options).whileRunning {
                var browser = UserAgent()
                let form = try await browser.open(site.issuer + "/sign-in").form(with: "password")
                for number in 0...allowed {
                    let answer = try await browser.post(form, ["username": "alice", "password": "wrong"])
                    #expect(answer.status == (number < allowed ? 400 : 429))
                }
            }
        }
    }

    @Test func `approvals are throttled at the configured limit`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            try await site.addScope("photos.read", "See your photos and albums")
            let clientID = try await site.registerClient()
            try await site.start(options: ["--approvals-per-user", "1"]).whileRunning {
                let request = ClientAuthorizationRequest(site, clientID)
                var browser = UserAgent()
                let first = try await Account.alice.answer("allow", at: request.url, in: &browser)
                #expect(try !first.code.isEmpty)
                let consent = try await browser.open(request.url)
                let second = try await browser.post(try consent.form(withButton: "allow"), ["decision": "allow"])
                #expect(second.status == 429)
            }
        }
    }

    @Test(arguments: [
        (["--plain-scheme", "javascript"], "--plain-scheme javascript: a plain scheme has"),
        (["--plain-scheme", "https"], "--plain-scheme https: a plain scheme has"),
        (["--plain-scheme", "com.example"], "--plain-scheme com.example: a plain scheme has"),
        (["--plain-scheme", "MyEditor"], "--plain-scheme MyEditor: a plain scheme has"),
        (["--plain-scheme", ""], "--plain-scheme : a plain scheme has"),
        (["--applications-per-developer", "0"], "--applications-per-developer must be a number from 1 to 1000000."),
        (["--registrations-per-source", "0"], "--registrations-per-source must be a number from 1 to 1000000."),
        (["--registrations-per-hour", "1"], "--registrations-per-hour must be a number from 2 to 1000000."),
        (["--failures-per-person", "0"], "--failures-per-person must be a number from 1 to 1000000."),
        (["--failures-per-source", "1000001"], "--failures-per-source must be a number from 1 to 1000000."),
        (["--connections", "15"], "--connections must be a number from 16 to 1000000."),
        (["--approvals-per-user", "0"], "--approvals-per-user must be a number from 1 to 1000000."),
        (["--hsts-max-age", "315360001"], "--hsts-max-age must be a time from 0s to 3650d, a number"),
        (["--registration", "nobody"], "--registration must be one of everyone, "),
        (["--audit-retention", "0"], "--audit-retention must be a number of days from 1 to 36500, such as"),
        (["--audit-retention", "36501"], "--audit-retention must be a number of days"),
        (["--audit-retention", "never"], "--audit-retention must be a number of days"),
    ])
    func `an invalid setting is refused before anything is created`(options: [String], sentence: String)
        async throws
    {
        try await Site.make { site in
            let ended = try await site.administer(
                ["serve", "--issuer", site.issuer, "--listen", "127.0.0.1:0"] + options)
            #expect(ended.status == 64)
            #expect(ended.errors.contains(sentence))
            #expect(!FileManager.default.fileExists(atPath: site.dataDirectory))
        }
    }
}
