import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// The one-time link that creates the first administrator.
struct SetupTests {
    private static func form(_ link: String, _ username: String = "root", _ password: String = "a long passphrase")
        -> FormParameters
    {
        FormParameters([
            "token": String(link.split(separator: "=").last ?? ""), "username": username, "email": "root@example.com",
            "password": password,
        ])
    }

    // There is no account before the link is used, and it is used once.
    @Test func `the link creates the first administrator, once`() async throws {
        let test = try await TestServer()
        #expect(try await !test.store.hasOwner())
        let link = try #require(try await test.server.openSetup())
        #expect(link.hasPrefix("https://id.example.com/setup?token="))
        var browser = test.browser()
        guard let page = try await browser.open(link).page as? SetupPage else {
            Issue.record("the link shows no form")
            return
        }
        #expect(page.action == "/setup")
        let done = try await browser.submit(Self.form(link), to: page.action)
        guard let donePage = done.page as? SetupDonePage else {
            Issue.record("the form made no administrator")
            return
        }
        #expect(donePage == SetupDonePage(username: "root", signInPath: "/sign-in?to=%2Fadmin"))
        let button = "<a class=\"button primary\" href=\"/sign-in?to=%2Fadmin\">Sign in</a>"
        #expect(try done.html().contains(button))
        let username = try #require(Username("root"))
        let root = try #require(try await test.store.user(named: username))
        #expect(root.role == .owner)
        #expect(root.passwordHash?.exposed.hasPrefix("$argon2id$v=19$m=19456,t=2,p=1$") == true)
        #expect(try await browser.open(link).status == .notFound)
        #expect(try await browser.submit(Self.form(link, "second"), to: "/setup").status == .notFound)
        #expect(try await test.server.openSetup() == nil)
    }

    @Test func `white space around the name and the email address is ignored`() async throws {
        let test = try await TestServer()
        let link = try #require(try await test.server.openSetup())
        var browser = test.browser()
        let form = Self.form(link, "Root\u{A0}").setting("email", to: " Root@example.com ")
        #expect(try await browser.submit(form, to: "/setup").status == .ok)
        let username = try #require(Username("root"))
        let root = try #require(try await test.store.user(named: username))
        #expect(root.email?.rawValue == "root@example.com")
        #expect(root.displayName == "root")
    }

    @Test func `a link that was used leads to the sign-in page`() async throws {
        let test = try await TestServer()
        let link = try #require(try await test.server.openSetup())
        var browser = test.browser()
        #expect(try await browser.open("/setup?token=wrong").html().contains("href=\"/sign-in\"") == false)
        #expect(try await browser.submit(Self.form(link), to: "/setup").status == .ok)
        for reply in [
            try await browser.open(link), try await browser.open("/setup"),
            try await browser.submit(Self.form(link, "second"), to: "/setup"),
        ] {
            #expect(reply.status == .notFound)
            let page = try #require(reply.page as? ProblemPage)
            #expect(page.title == "Set up already")
            #expect(page.explanation == "An owner account exists already, so the setup link no longer works.")
            #expect(page.continueLink == .init(address: "/sign-in", title: "Sign in"))
        }
    }

    @Test func `only the newest link is valid, and none can be guessed`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        #expect(try await browser.open("/setup?token=").status == .notFound)
        let first = try #require(try await test.server.openSetup())
        let second = try #require(try await test.server.openSetup())
        #expect(first != second)
        #expect(try await browser.open(first).status == .notFound)
        #expect(try await browser.open("/setup").status == .notFound)
        #expect(try await browser.open("/setup?token=" + CodeVerifier().exposed).status == .notFound)
        #expect(try await browser.open(second).status == .ok)
    }

    @Test(arguments: [
        ("root", "short", SetupPage.Field.password), ("root root", "a long passphrase", .username),
        ("", "a long passphrase", .username), ("alice", "a long passphrase", .username),
        ("long.password", "long.password", .password),
    ])
    func `an invalid account is refused at its field`(
        username: String, password: String, field: SetupPage.Field
    ) async throws {
        let test = try await TestServer()
        let link = try #require(try await test.server.openSetup())
        var browser = test.browser()
        let reply = try await browser.submit(Self.form(link, username, password), to: "/setup")
        #expect(reply.status == .badRequest)
        guard let page = reply.page as? SetupPage else { return }
        #expect(page.problem != nil)
        #expect(page.username == username)
        #expect(page.wrongField == field)
        let wrong = try reply.html().matches(of: /<input id="(\w+)"[^>]* autofocus aria-invalid="true"/)
        #expect(wrong.map { String($0.output.1) } == ["\(field)"])
        #expect(try await browser.open(link).status == .ok)
    }

    @Test func `a form from another site creates no account`() async throws {
        let test = try await TestServer()
        let link = try #require(try await test.server.openSetup())
        var browser = test.browser()
        let reply = try await browser.send(
            .post, to: "/setup", form: Self.form(link), fields: [try .named("Sec-Fetch-Site"): "cross-site"])
        #expect(reply.status == .forbidden)
        #expect(try await !test.store.hasOwner())
    }
}
