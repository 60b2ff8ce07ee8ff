import CounterfoilProtocol
import TestSupport
import Testing

/// Sign-ins that end without a token, and their results for scripts.
@Suite(.timeLimit(.minutes(10)))
struct EndsWithoutTokenTests {
    @Test func `a user who cancels ends the sign-in, and can start again`() async throws {
        try await Site.run { site, clientID in
            let device = try Device(in: site.folder)
            let login = try device.beginLogin(site, clientID: clientID)
            try await login.whileRunning {
                var browser = UserAgent()
                let page = try await Account.alice.deny(try await device.openedAddress(), in: &browser)
                #expect(page.heading == "Access was denied")
                let ended = try await login.ended()
                #expect(ended.status == 7)
                #expect(ended.output.isEmpty)
                #expect(ended.errors.contains("Error: access was denied"))
            }
            #expect(try await device.counterfoil("token").status == 3)
            #expect(try await device.signIn(.alice, at: site, clientID: clientID).status == 0)
        }
    }

    @Test func `a sign-in without a user at the browser times out`() async throws {
        try await Site.run { site, clientID in
            let device = try Device(in: site.folder)
            let login = try device.beginLogin(site, clientID: clientID, "--timeout", "1")
            let ended = try await login.ended()
            #expect(ended.status == 4)
            #expect(ended.errors.contains("Error: no response arrived from the browser in time."))
        }
    }

    @Test func `a client that the server does not know gets a page, and its sign-in times out`() async throws {
        try await Site.run { site, _ in
            let device = try Device(in: site.folder)
            let login = try device.beginLogin(site, clientID: "nobody", "--timeout", "1")
            try await login.whileRunning {
                var browser = UserAgent()
                let page = try await browser.open(try await device.openedAddress())
                #expect(page.status == 400)
                #expect(page.text.contains("There is no app with the client_id of the request"))
                #expect(try await login.ended().status == 4)
            }
        }
    }

    @Test func `a server that does not respond is a temporary failure`() async throws {
        try await Site.make { site in
            let device = try Device(in: site.folder)
            let login = try device.beginLogin(site, clientID: "lightbox")
            let ended = try await login.ended()
            #expect(ended.status == 6)
            #expect(!ended.errors.contains("Open: "))
        }
    }

    @Test func `a wrong password is refused without saying what is wrong, and the next attempt works`() async throws {
        try await Site.run { site, clientID in
            let request = ClientAuthorizationRequest(site, clientID)
            var browser = UserAgent()
            let page = try await browser.open(request.url)
            let wrong = try await browser.submit(
                try page.form(with: "password"), ["username": "alice", "password": "not her password"])
            let unknown = try await browser.submit(
                try page.form(with: "password"), ["username": "nobody", "password": "not her password"])
            #expect(wrong.status == 400)
            #expect(unknown.status == 400)
            func text(_ page: WebPage, without name: String) -> String {
                page.text.replacing(name, with: "").replacing(/Reference \S+/, with: "")
            }
            #expect(text(wrong, without: "alice") == text(unknown, without: "nobody"))
            #expect(!wrong.body.contains("not her password"))
            let consent = try await Account.alice.fillIn(wrong, in: &browser)
            #expect(throws: Never.self) { try consent.form(withButton: "allow") }
        }
    }
}
