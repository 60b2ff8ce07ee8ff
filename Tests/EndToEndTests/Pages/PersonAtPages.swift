/// What a person does: reads pages and presses buttons.
extension Person {
    /// Signs in where it is asked for, allows what is asked, and goes on to the application; the application's page.
    func allow(_ url: String, in browser: inout UserAgent) async throws -> WebPage {
        try await decide("allow", at: url, in: &browser)
    }

    /// Signs in where it is asked for and cancels; the application's page.
    func deny(_ url: String, in browser: inout UserAgent) async throws -> WebPage {
        try await decide("deny", at: url, in: &browser)
    }

    /// Opens an address and signs in on the page that is there; the page after it.
    func signIn(_ url: String, in browser: inout UserAgent) async throws -> WebPage {
        let page = try await browser.open(url)
        return try await fillIn(page, in: &browser)
    }

    /// Signs in on a page that asks for it.
    func fillIn(_ page: WebPage, in browser: inout UserAgent) async throws -> WebPage {
        try await browser.submit(try page.form(with: "password"), ["username": name, "password": password])
    }

    private func decide(_ decision: String, at url: String, in browser: inout UserAgent) async throws -> WebPage {
        try await browser.goOn(from: try await answer(decision, at: url, in: &browser))
    }

    /// Signs in where it is asked for and answers; the page that leads to the application, which nobody follows.
    func answer(_ decision: String, at url: String, in browser: inout UserAgent) async throws -> WebPage {
        var page = try await browser.open(url)
        if let signIn = try? page.form(with: "password") {
            page = try await browser.submit(signIn, ["username": name, "password": password])
        }
        return try await browser.submit(try page.form(withButton: decision), ["decision": decision])
    }
}

extension Device {
    /// Signs a person in who allows everything.
    func signIn(_ person: Person, at site: Site, clientID: String) async throws -> EndedProgram {
        let login = try beginLogin(site, clientID: clientID)
        return try await login.whileRunning {
            var browser = UserAgent()
            _ = try await person.allow(try await openedAddress(), in: &browser)
            return try await login.ended()
        }
    }
}
