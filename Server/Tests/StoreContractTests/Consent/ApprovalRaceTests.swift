import CounterfoilConsole
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// An approval at one server, and a change at another one that decides about it.
@Suite("The contract: an approval and a change at two servers at the same time", .timeLimit(.minutes(5)))
struct ApprovalRaceTests {
    /// A consent page that the first server has shown to alice.
    private struct Question: Sendable {
        let servers: Race.Servers
        let attempt: Attempt
        private let browser: ScriptedUserAgent
        private let page: Reply

        init(_ attempt: Attempt, in servers: Race.Servers) async throws {
            self.servers = servers
            self.attempt = attempt
            var browser = servers.first.browser()
            page = try await browser.signIn(
                on: try await browser.open(attempt.url), username: "alice", password: TestServer.password)
            _ = try page.consentPage
            self.browser = browser
        }

        /// The browser of alice with the pages of the second server.
        var elsewhere: ScriptedUserAgent {
            var browser = servers.second.browser()
            browser.cookies = self.browser.cookies
            return browser
        }

        /// The approval at the first server.
        var approval: Race.Change<Reply> {
            Race.Change(store: servers.here, commit: .recordConsent) {
                var browser = browser
                return try await browser.decide(.allow, on: page)
            }
        }

        /// Redeems a code at the second server.
        func redeem(_ code: AuthorizationCode) async -> Reply { await servers.second.redeem(attempt.exchange(code)) }

        /// Expects that the approval was not recorded.
        func expectNothingAllowed() async throws {
            #expect(try await servers.there.consent(of: servers.first.alice.id, to: attempt.client.id) == nil)
        }
    }

    // The grants of a single-page app end with their session.
    @Test(arguments: Race.kinds, Race.Order.allCases)
    func `an approval while the user signs out gives no code that can be redeemed`(
        kind: StoreKind, order: Race.Order
    ) async throws {
        try await Race.withServers(kind) { servers in
            let client = try await servers.first.register(
                "Page", type: .singlePage, redirectURIs: ["https://page.example/cb"])
            let attempt = Attempt(servers.first, by: client, at: "https://page.example/cb")
            let question = try await Question(attempt, in: servers)
            var account = question.elsewhere
            let console = try await account.open("/account").accountPage.console
            let ready = account
            let signOut = Race.Change(store: servers.there, commit: .endSession) {
                var browser = ready
                return try await browser.send(
                    .post, to: console.paths.signOut, form: FormParameters(["ticket": console.signOutTicket]))
            }
            let (approved, done) = try await Race.run(question.approval, signOut, in: order)
            #expect(done.status == .seeOther)
            if approved.page is SignInPage {
                #expect(order != .firstWithinSecond)
                try await question.expectNothingAllowed()
            } else {
                #expect(order != .secondWithinFirst)
                #expect(try await question.redeem(try approved.code).tokenError.error == "invalid_grant")
            }
            // Neither server accepts the session, and a new sign-in works.
            for server in [servers.first, servers.second] {
                var browser = server.browser()
                browser.cookies = ready.cookies
                _ = try await browser.open(attempt.url).signInPage
            }
            #expect(await question.redeem(try await attempt.authorize().code).status == .ok)
        }
    }

    /// A change of a client by its owner.
    enum Edit: CaseIterable, Sendable { case scope, redirectURI }

    private static let former = (scopes: ["openid", "photos.read", "photos.write"], uri: "http://127.0.0.1/callback")

    private static func form(after edit: Edit? = nil) -> FormParameters {
        Developer.form(
            redirectURIs: edit == .redirectURI ? "http://127.0.0.1/other" : former.uri,
            scopes: edit == .scope ? ["openid", "photos.read"] : former.scopes)
    }

    // An approval is valid for the client that the page showed: it is recorded before the change, or refused.
    @Test(arguments: Race.kinds, Race.Order.allCases)
    func `an approval while the owner changes the client is recorded before the change or refused`(
        kind: StoreKind, order: Race.Order
    ) async throws {
        for change in Edit.allCases {
            try await Race.withServers(kind) { servers in
                var owner = try await Developer("dora", of: servers.second)
                let client = try await owner.registered(Self.form())
                let attempt = Attempt(servers.first, by: client, for: "photos.read photos.write")
                let question = try await Question(attempt, in: servers)
                let page = try await owner.browser.open("/apps/\(client.id)/edit").clientFormPage
                let form = Self.form(after: change).adding("ticket", page.ticket)
                    .adding("revision", String(page.revision))
                let ready = owner.browser
                let edit = Race.Change(store: servers.there, commit: .updateClient) {
                    var browser = ready
                    return try await browser.send(.post, to: page.action, form: form)
                }
                let (approved, done) = try await Race.run(question.approval, edit, in: order)
                #expect(done.status == .seeOther, "\(change)")
                if approved.status == .conflict {
                    #expect(order != .firstWithinSecond, "\(change)")
                    #expect(try approved.problemPage.title == "This app has changed")
                    try await question.expectNothingAllowed()
                } else {
                    #expect(order != .secondWithinFirst, "\(change)")
                    let tokens = try await question.redeem(try approved.code).tokenResponse
                    #expect(try tokens.scope == Scope(parsing: "photos.read photos.write"))
                }
                // Later, neither server accepts a request for what the owner has removed.
                for server in [servers.first, servers.second] {
                    let late = try await Attempt(server, by: client, for: "photos.write").firstReply()
                    #expect(!(late.page is SignInPage), "\(change)")
                }
            }
        }
    }
}
