import CounterfoilConsole
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilWeb
import Foundation
import Testing

extension Attempt {
    /// Signs in as alice in a new browser; returns the next page.
    func afterSignIn() async throws -> (browser: ScriptedUserAgent, reply: Reply) {
        var browser = test.browser()
        let first = try await browser.open(url)
        let reply = try await browser.signIn(on: first, username: "alice", password: TestServer.password)
        return (browser, reply)
    }

    /// Returns the consent page that alice sees in a new browser.
    func consentPage() async throws -> ConsentPage { try await afterSignIn().reply.consentPage }
}

extension TestServer {
    /// Changes a client as the console does.
    func change(
        _ client: RegisteredClient, logo: LogoChange = .keep, _ change: (inout RegisteredClient) -> Void
    ) async throws {
        var changed = try #require(try await store.client(client.id))
        change(&changed)
        #expect(try await store.updateClient(changed, logo: logo) == .updated)
    }
}

extension Reply {
    /// The HTML document of a response.
    func html() throws -> String {
        guard let page = self.page else { throw NoPage() }
        return String(decoding: try PageRenderer(pages: .console).render(page, in: try #require(frame)), as: UTF8.self)
    }

    private struct NoPage: Error {}
}
