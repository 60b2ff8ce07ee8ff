import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// The setup link for the first administrator; there is no default account.
@Suite(.timeLimit(.minutes(10)))
struct AdministratorLinkTests {
    @Test func `the first start prints a link that creates an administrator once`() async throws {
        try await Site.make { site in
            let first = try await site.start()
            try await first.whileRunning {
                let link = try #require(first.setupLink)
                #expect(link.hasPrefix(site.issuer + "/setup?token="))
                var browser = UserAgent()
                let page = try await browser.open(link)
                #expect(page.status == 200)

                // A password that is too short does not use up the link.
                let form = try page.form(with: "email")
                let again = try await browser.submit(form, Self.typed("owner", password: "short"))
                #expect(again.status == 400)
                let done = try await browser.submit(try again.form(with: "email"), Self.typed("owner"))
                #expect(done.status == 200)
                #expect(done.text.contains("The owner owner can sign in now."))

                #expect(try await browser.open(link).status == 404)
                let second = try await browser.submit(form, Self.typed("intruder"))
                #expect(second.status == 404)
                #expect(second.heading == "Set up already")
            }
            let next = try await site.start()
            try await next.whileRunning {
                #expect(next.setupLink == nil)
                var browser = UserAgent()
                let page = try await browser.open(site.issuer + "/setup")
                #expect(page.status == 404)
            }
            #expect(try await site.administer(Self.newUser("owner"), input: "a good long password\n").status == 3)
            #expect(try await site.administer(Self.newUser("intruder"), input: "a good long password\n").status == 0)
        }
    }

    @Test func `each start without an administrator invalidates the link of the previous start`() async throws {
        try await Site.make { site in
            let first = try await site.start()
            let old = try await first.whileRunning { try #require(first.setupLink) }
            let second = try await site.start()
            try await second.whileRunning {
                let new = try #require(second.setupLink)
                #expect(new != old)
                var browser = UserAgent()
                #expect(try await browser.open(old).status == 404)
                #expect(try await browser.open(site.issuer + "/setup?token=").status == 404)
                #expect(try await browser.open(new).status == 200)
            }
        }
    }

    @Test func `a form from another site creates no administrator`() async throws {
        try await Site.make { site in
            let server = try await site.start()
            try await server.whileRunning {
                let link = try #require(server.setupLink)
                let token = try #require(link.split(separator: "=").last)
                let form = FormParameters([
                    "token": String(token), "username": "owner", "email": "", "password": "a good long password",
                ])
                var browser = UserAgent()
                for headers in [["sec-fetch-site": "cross-site"], ["origin": "https://evil.example"]] {
                    let page = try await browser.send(
                        .post, site.issuer + "/setup", headers: headers, form: form)
                    #expect(page.status == 403)
                }
                #expect(try await browser.open(link).status == 200)
            }
        }
    }

    @Test func `there is no link if an administrator was created at the terminal`() async throws {
        try await Site.make { site in
            let made = try await site.administer(
                Self.newUser("owner") + ["--role", "owner"], input: "a good long password\n")
            #expect(made.status == 0)
            let server = try await site.start()
            try await server.whileRunning { #expect(server.setupLink == nil) }
        }
    }

    private static func typed(_ name: String, password: String = "a good long password") -> [String: String] {
        ["username": name, "email": "", "password": password]
    }

    private static func newUser(_ name: String) -> [String] { ["user", "create", name, "--password-stdin"] }
}

extension RunningProgram {
    /// The setup link in the output of the server.
    fileprivate var setupLink: String? {
        errors.firstMatch(of: /(http\S+\/setup\?token=[A-Za-z0-9_-]{43})\n/).map { String($0.output.1) }
    }
}
