import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// One browser with two tabs, two servers, and a site that posts an authorization request.
@Suite(.realBrowser, .oneStage, .serialized, .timeLimit(.minutes(15)))
struct SharedBrowserJourneyTests {
    // Both tabs show the sign-in page, and the user signs in on both.
    @Test func `a user who signs in in two tabs can allow in both`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            let first = try await browser.tab
            let second = try await browser.openTab()
            try await RelyingPartyPage.run { party in
                let request = stage.request(scope: "openid photos.read", redirectURI: party.address)
                for tab in [first, second] {
                    try await browser.use(tab)
                    try await browser.navigate(to: request)
                    _ = try await browser.waitForElement("input[name=password]")
                }
                for tab in [second, first] {
                    try await browser.use(tab)
                    try await stage.signIn(as: .alice)
                    _ = try await browser.waitForElement("[value=allow]")
                }
                for tab in [second, first] {
                    try await browser.use(tab)
                    try await browser.find("[value=allow]").click()
                    try await stage.arrive(at: "Welcome to Prints")
                    #expect(try await browser.currentURL.hasPrefix(party.address + "?code="))
                }
            }
            try await browser.use(second)
            try await browser.closeTab()
            try await browser.use(first)
            try await stage.expectNoComplaints()
        }
    }

    // A browser sends cookies to every port of a host.
    @Test func `a sign-in at another issuer of the host ends no session`() async throws {
        try await Stage.enter { stage in
            let (browser, folder) = (stage.browser, stage.site.folder)
            let port = try ReservedPort()
            let issuer = "http://localhost:\(port.number)/second"
            let store = ["--data-dir", folder.path("second")]
            let made = try await RunningProgram(
                .server, ["user", "create", Account.grace.name, "--password-stdin"] + store,
                input: Account.grace.password + "\n", in: folder
            ).ended()
            #expect(made.status == 0, "\(made.errors)")
            try await stage.open("/account", as: .alice)
            let serve = ["serve", "--issuer", issuer, "--listen", "127.0.0.1:\(port.number)"]
            let server = try RunningProgram(.server, serve + store, in: folder)
            try await server.whileRunning {
                _ = try await server.said("that it listens") { $0.errors.contains("Counterfoil serves ") ? true : nil }
                try await browser.navigate(to: issuer + "/account")
                try await stage.signIn(as: .grace)
                _ = try await browser.waitForURL(startingWith: issuer + "/account")
                let names = try await browser.cookies.compactMap { $0["name"]?.string }
                #expect(names.contains("counterfoil-session") && names.count == Set(names).count)
                try await stage.open("/account")
                try await stage.read("Alice Andersen")
                try await browser.navigate(to: issuer + "/account")
                try await stage.read(Account.grace.name)
            }
            try await stage.expectNoComplaints()
        }
    }

    // OpenID Connect Core §3.1.2.1: a browser leaves the session cookie out of a form that another site posts.
    @Test func `an authorization request that another site posts finds the session`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await stage.open("/account", as: .alice)
            let request = stage.request(scope: "openid")
            let query = try FormParameters(parsing: String(request.drop { $0 != "?" }.dropFirst()))
            let fields = query.pairs.map { "<input type=hidden name='\($0.name)' value='\($0.value)'>" }.joined()
            let form = "<form method=post action=\(stage.site.issuer)/oauth2/authorize>\(fields)</form>"
            try await browser.navigate(
                to: "data:text/html,<title>shop</title>\(form)<script>document.forms[0].submit()</script>")
            _ = try await browser.waitForElement("[value=allow]")
            #expect(try await browser.findAll("input[name=password]").isEmpty)
            try await stage.expectNoComplaints()
        }
    }
}
