import Foundation
import Testing

/// How a person gets about on the pages.
extension Stage {
    /// Opens a page of the server.
    func open(_ path: String) async throws {
        try await browser.navigate(to: site.issuer + path)
    }

    /// Opens a page of the console, and signs in where it asks for that.
    func open(_ path: String, as person: Person) async throws {
        try await open(path)
        try await signIn(as: person)
        try await browser.waitFor(path) { try await browser.currentURL.hasPrefix(site.issuer + path) }
    }

    /// Types name and password into the sign-in page.
    func signIn(as person: Person) async throws {
        try await browser.waitForElement("input[name=username]").clear()
        try await browser.find("input[name=username]").type(person.name)
        try await browser.find("input[name=password]").type(person.password)
        try await browser.find("button.primary").click()
    }

    /// Replaces what stands in a field.
    func fill(_ name: String, _ text: String) async throws {
        let field = try await browser.waitForElement("[name='\(name)']")
        try await field.clear()
        try await field.type(text)
    }

    /// Ticks or unticks a box, or chooses one of several.
    func tick(_ name: String, _ value: String? = nil) async throws {
        let value = value.map { "[value='\($0)']" } ?? ""
        try await browser.waitForElement("input[name='\(name)']\(value)").click()
    }

    /// Follows the link to a path.
    func follow(_ path: String) async throws {
        let script = """
            return [...document.querySelectorAll('a[href]')]
              .find(e => e.getAttribute('href') === arguments[0] && e.checkVisibility()) ?? null;
            """
        let link = try await poll("a link to \(path)", within: .seconds(20)) { () -> Element? in
            guard let found = try? await browser.execute(script, [.string(path)]), found != .null else { return nil }
            return try? Element(found, session: browser.session)
        }
        try await link.click()
    }

    /// Presses the button that a selector finds, and waits for the page that answers.
    func send(_ button: String = "main form button.primary") async throws {
        let button = try await browser.waitForElement(button)
        _ = try await browser.execute("document.documentElement.dataset.sent = ''")
        try await button.click()
        try await browser.waitFor("the answer to a form") {
            // The page may go away under the question.
            let state = try? await browser.execute(
                "return document.readyState === 'complete' && !('sent' in document.documentElement.dataset)")
            return state == true
        }
    }

    /// Whether a person sees the first element that a selector finds.
    func sees(_ css: String) async throws -> Bool {
        try await browser.execute(
            "return document.querySelector(arguments[0])?.checkVisibility() ?? false", [.string(css)]) == true
    }

    /// Signs out with the button that every page of the console has.
    func signOut() async throws {
        try await send(".bar form[action$='/sign-out'] button")
    }

    /// Waits until a page says that something has been done.
    func seeDone() async throws {
        _ = try await browser.waitForElement(".note.done")
    }

    /// The button or link that a person sees and that begins with these words.
    func control(_ words: String) async throws -> Element {
        let script = """
            const seen = [...document.querySelectorAll('button, a, summary')].filter(e => e.checkVisibility());
            const words = e => e.innerText.replace(/\\s+/g, ' ').trim();
            return seen.find(e => words(e) === arguments[0]) ?? seen.find(e => words(e).startsWith(arguments[0])) ?? null;
            """
        return try await poll("“\(words)”", within: .seconds(20)) {
            // The page may go away under the question.
            guard let found = try? await browser.execute(script, [.string(words)]), found != .null else { return nil }
            return try? Element(found, session: browser.session)
        }
    }

    /// Waits for a page whose heading begins so.
    func arrive(at heading: String) async throws {
        try await browser.waitFor("the page “\(heading)”") {
            let isComplete = try? await browser.execute("return document.readyState === 'complete'")
            guard isComplete == true else { return false }
            return (try? await browser.find("h1").text)?.hasPrefix(heading) == true
        }
    }

    /// Waits until the page says this.
    func read(_ words: String) async throws {
        try await browser.waitFor("the words “\(words)”") {
            (try? await browser.text)?.contains(words) == true
        }
    }

    /// Expects that pages wrote nothing to the console of the browser, as those do that keep to their own policy.
    ///
    /// An application's address, at which nobody listens in these tests, is none of our pages; nor is an answer that is an
    /// error on purpose anything to complain of.
    func expectNoComplaints(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let complaints = try await browser.consoleMessages().filter { message in
            // The driver can be quicker with the focus than the page, which the browser then remarks upon.
            ![
                "127.0.0.1:49152", "Failed to launch 'com.example.", "the server responded with a status of 4",
                "Autofocus processing was blocked",
            ]
            .contains { message.contains($0) }
        }
        #expect(complaints == [], sourceLocation: sourceLocation)
    }
}

// MARK: - From an application

extension Stage {
    /// Where Lightbox would wait for its answer; nobody listens there.
    static let redirectURI = "http://127.0.0.1:49152/callback"

    /// The address with which an application asks for permissions.
    func request(
        _ clientID: String? = nil, scope: String = "openid photos.read photos.write",
        redirectURI: String = redirectURI
    ) -> String {
        let parameters = [
            "response_type=code", "client_id=\(clientID ?? lightbox)", "redirect_uri=\(redirectURI)",
            "scope=\(scope.replacing(" ", with: "%20"))", "state=a-state",
            "code_challenge=" + String(repeating: "A", count: 43), "code_challenge_method=S256",
        ]
        return "\(site.issuer)/oauth2/authorize?" + parameters.joined(separator: "&")
    }

    /// Goes where an application sends the browser.
    func ask(
        _ clientID: String? = nil, scope: String = "openid photos.read photos.write",
        redirectURI: String = redirectURI
    ) async throws {
        try await browser.navigate(to: request(clientID, scope: scope, redirectURI: redirectURI))
    }

    /// Answers the question of the consent page, and waits until the answer is on its way to the application.
    func answer(_ decision: String) async throws {
        try await browser.waitForElement("button[name=decision][value=\(decision)]").click()
        try await browser.waitFor("the answer to leave") {
            try await browser.requestedURLs().contains { $0.hasPrefix(Self.redirectURI) }
        }
    }
}
