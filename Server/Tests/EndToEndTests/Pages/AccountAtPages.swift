import TestSupport

/// Actions of a user: reading pages and pressing buttons.
extension Account {
    /// Signs in if necessary, allows the request and continues to the client; returns the client's page.
    func allow(_ url: String, in browser: inout UserAgent) async throws -> WebPage {
        try await decide("allow", at: url, in: &browser)
    }

    /// Signs in if necessary and cancels; returns the client's page.
    func deny(_ url: String, in browser: inout UserAgent) async throws -> WebPage {
        try await decide("deny", at: url, in: &browser)
    }

    /// Opens a URL and signs in on its page; returns the next page.
    func signIn(_ url: String, in browser: inout UserAgent) async throws -> WebPage {
        let page = try await browser.open(url)
        return try await fillIn(page, in: &browser)
    }

    /// Signs in on a sign-in page.
    func fillIn(_ page: WebPage, in browser: inout UserAgent) async throws -> WebPage {
        try await browser.submit(try page.form(with: "password"), ["username": name, "password": password])
    }

    private func decide(_ decision: String, at url: String, in browser: inout UserAgent) async throws -> WebPage {
        try await browser.proceed(from: try await answer(decision, at: url, in: &browser))
    }

    /// Signs in if necessary and presses a button; returns the page that continues to the client, without
    /// following it.
    func answer(_ decision: String, at url: String, in browser: inout UserAgent) async throws -> WebPage {
        var page = try await browser.open(url)
        if let signIn = try? page.form(with: "password") {
            page = try await browser.submit(signIn, ["username": name, "password": password])
        }
        return try await browser.submit(try page.form(withButton: decision), ["decision": decision])
    }
}

extension Device {
    /// Signs in a user who allows every request.
    func signIn(_ user: Account, at site: Site, clientID: String) async throws -> EndedProgram {
        let login = try beginLogin(site, clientID: clientID)
        return try await login.whileRunning {
            var browser = UserAgent()
            _ = try await user.allow(try await openedAddress(), in: &browser)
            return try await login.ended()
        }
    }
}
