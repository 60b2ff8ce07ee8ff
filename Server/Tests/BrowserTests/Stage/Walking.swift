import Foundation
import TestSupport
import Testing

/// Navigation and input on the pages.
extension Stage {
    /// Opens a page of the server.
    func open(_ path: String) async throws {
        try await browser.navigate(to: site.issuer + path)
    }

    /// Opens a page of the console and signs in.
    func open(_ path: String, as user: Account) async throws {
        try await open(path)
        try await signIn(as: user)
        try await browser.waitFor(path) { try await browser.currentURL.hasPrefix(site.issuer + path) }
    }

    /// Signs in on the sign-in page.
    func signIn(as user: Account) async throws {
        try await browser.waitForElement("input[name=username]").clear()
        try await browser.find("input[name=username]").type(user.name)
        try await browser.find("input[name=password]").type(user.password)
        try await browser.find("button.primary").click()
    }

    /// Replaces the content of a field.
    func fill(_ name: String, _ text: String) async throws {
        let field = try await browser.waitForElement("[name='\(name)']")
        try await field.clear()
        try await field.type(text)
    }

    /// Clicks a checkbox or a radio button.
    func tick(_ name: String, _ value: String? = nil) async throws {
        let value = value.map { "[value='\($0)']" } ?? ""
        try await browser.waitForElement("input[name='\(name)']\(value)").click()
    }

    /// Shows the fields of the form of a client that are folded.
    func unfold() async throws {
        let summary = try await browser.waitForElement("details.part > summary")
        if try await browser.findAll("details.part[open]").isEmpty { try await summary.click() }
        _ = try await browser.waitForElement("details.part[open]")
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

    /// Presses a button and waits for the next page.
    func send(_ button: String = "main form button.primary") async throws {
        let button = try await browser.waitForElement(button)
        await waitForVerdicts()
        _ = try await browser.execute("document.documentElement.dataset.sent = ''")
        try await button.click()
        try await browser.waitFor("the answer to a form") {
            // The page can change while the script runs.
            let state = try? await browser.execute(
                "return document.readyState === 'complete' && !('sent' in document.documentElement.dataset)")
            return state == true
        }
    }

    /// Waits until the page shows the verdicts on the lines that were typed.
    ///
    /// They move the button when they appear, so that a click at its former place would hit nothing. The wait ends
    /// after five seconds, because a line that is shown in another spelling never compares equal.
    private func waitForVerdicts() async {
        let script = """
            return !document.documentElement.classList.length
              || [...document.querySelectorAll('textarea[data-verdicts]')].every(field => {
                const lines = field.value.split('\\n').map(line => line.trim()).filter(line => line);
                const shown = [...document.querySelectorAll(`#${field.id}-verdicts > li > div > code`)];
                return lines.length === shown.length && lines.every((line, at) => line === shown[at].textContent);
              });
            """
        try? await browser.waitFor("the verdicts on the typed lines", within: .seconds(5)) {
            try await browser.execute(script) == true
        }
    }

    /// Returns whether the first element that matches a selector is visible.
    func sees(_ css: String) async throws -> Bool {
        try await browser.execute(
            "return document.querySelector(arguments[0])?.checkVisibility() ?? false", [.string(css)]) == true
    }

    /// Signs out with the button on every console page.
    func signOut() async throws {
        try await send(".bar form[action$='/sign-out'] button")
    }

    /// Waits for the confirmation of an action.
    func seeDone() async throws {
        _ = try await browser.waitForElement(".note.done")
    }

    /// Returns the visible button or link whose text starts with these words.
    func control(_ words: String) async throws -> Element {
        let script = """
            const seen = [...document.querySelectorAll('button, a, summary')].filter(e => e.checkVisibility());
            const words = e => e.innerText.replace(/\\s+/g, ' ').trim();
            return seen.find(e => words(e) === arguments[0]) ?? seen.find(e => words(e).startsWith(arguments[0])) ?? null;
            """
        return try await poll("“\(words)”", within: .seconds(20)) {
            // The page can change while the script runs.
            guard let found = try? await browser.execute(script, [.string(words)]), found != .null else { return nil }
            return try? Element(found, session: browser.session)
        }
    }

    /// Waits for a page whose heading starts with this text.
    func arrive(at heading: String) async throws {
        try await browser.waitFor("the page “\(heading)”") {
            let isComplete = try? await browser.execute("return document.readyState === 'complete'")
            guard isComplete == true else { return false }
            return (try? await browser.find("h1").text)?.hasPrefix(heading) == true
        }
    }

    /// Waits until the page contains this text.
    func read(_ words: String) async throws {
        try await browser.waitFor("the words “\(words)”") {
            (try? await browser.text)?.contains(words) == true
        }
    }

    /// Expects that the pages wrote nothing to the browser console, which reports violations of their
    /// security policy.
    ///
    /// Messages about the unreachable redirect URI of the client and about intended error responses are
    /// ignored.
    func expectNoComplaints(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let complaints = try await browser.consoleMessages().filter { message in
            // The driver can set the focus before the page does, and the browser reports that.
            ![
                "127.0.0.1:49152", "Failed to launch 'com.example.", "the server responded with a status of 4",
                "Autofocus processing was blocked",
            ]
            .contains { message.contains($0) }
        }
        #expect(complaints == [], sourceLocation: sourceLocation)
    }
}

// MARK: - From a client

extension Stage {
    /// The redirect URI of Lightbox, where nothing listens.
    static let redirectURI = "http://127.0.0.1:49152/callback"

    /// Returns an authorization request.
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

    /// Opens an authorization request.
    func ask(
        _ clientID: String? = nil, scope: String = "openid photos.read photos.write",
        redirectURI: String = redirectURI, adding parameters: String = ""
    ) async throws {
        try await browser.navigate(to: request(clientID, scope: scope, redirectURI: redirectURI) + parameters)
    }

    /// Presses a button on the consent page, and waits until the browser requests the redirect URI.
    func answer(_ decision: String) async throws {
        try await browser.waitForElement("button[name=decision][value=\(decision)]").click()
        try await browser.waitFor("the answer to leave") {
            try await browser.requestedURLs().contains { $0.hasPrefix(Self.redirectURI) }
        }
    }
}
