import CounterfoilConsole
import CounterfoilServer
import CounterfoilTesting
import CounterfoilWeb
import Foundation
import Testing

extension Attempt {
    /// Signs in as alice in a new browser, as far as the page after it.
    func afterSignIn() async throws -> (browser: ScriptedUserAgent, reply: Reply) {
        var browser = test.browser()
        let first = try await browser.open(url)
        let reply = try await browser.signIn(on: first, username: "alice", password: TestServer.password)
        return (browser, reply)
    }

    /// The consent page that alice sees in a new browser.
    func consentPage() async throws -> ConsentPage { try await afterSignIn().reply.consentPage }
}

extension TestServer {
    /// Changes an application as somebody at the console does.
    func change(
        _ client: RegisteredClient, logo: LogoChange = .keep, _ change: (inout RegisteredClient) -> Void
    ) async throws {
        var changed = try #require(try await store.client(client.id))
        change(&changed)
        #expect(try await store.updateClient(changed, logo: logo) == .updated)
    }
}

extension Reply {
    /// The document that a browser gets.
    func html() throws -> String {
        guard let page = self.page else { throw NoPage() }
        return String(decoding: try PageRenderer(pages: .console).render(page, in: try #require(frame)), as: UTF8.self)
    }

    private struct NoPage: Error {}
}
