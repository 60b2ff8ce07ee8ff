import CounterfoilConsole
import CounterfoilPages
package import CounterfoilServer

extension Attempt {
    /// Signs in as alice in a new browser, and returns the browser with the reply to the sign-in.
    package func afterSignIn() async throws -> (browser: ScriptedUserAgent, reply: Reply) {
        var browser = test.browser()
        let first = try await browser.open(url)
        let reply = try await browser.signIn(on: first, username: "alice", password: TestServer.password)
        return (browser, reply)
    }

    /// Signs in as alice in a new browser, and returns the consent page.
    package func consentPage() async throws -> ConsentPage { try await afterSignIn().reply.consentPage }
}

extension Reply {
    /// Renders the page of the reply as an HTML document; throws if the reply has no page.
    package func html() throws -> String {
        guard let page, let frame else { throw UnexpectedReply(needed: "a page", reply: self) }
        return String(decoding: try PageRenderer(pages: .console).render(page, in: frame), as: UTF8.self)
    }
}
