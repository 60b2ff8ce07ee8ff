import CounterfoilConsole
package import CounterfoilProtocol
package import CounterfoilServer
package import CounterfoilStore

/// A user in a browser who registers clients at the console.
package struct Developer {
    package let test: TestServer
    package var browser: ScriptedUserAgent

    package init(_ name: String, of test: TestServer, role: UserRole? = nil) async throws {
        self.test = test
        _ = try await test.addUser(name, email: "\(name)@example.com", role: role)
        browser = test.browser()
        try await browser.signInToConsole(username: name)
    }

    /// Returns the form fields for the registration of a new client.
    package static func form(
        _ name: String = "Lightbox Two", type: String = "native",
        redirectURIs: String = "com.example.lightbox:/callback", scopes: [String] = ["openid", "photos.read"]
    ) -> FormParameters {
        var form = FormParameters(["type": type, "name": name, "redirect_uris": redirectURIs])
        for scope in scopes { form.append("scope", scope) }
        return form
    }

    /// Registers a client at the console, follows redirects, and returns the last reply.
    package mutating func register(_ form: FormParameters) async throws -> Reply {
        let type = form.pairs.first { $0.name == "type" }?.value ?? "native"
        let page = try await browser.open("/apps/new?type=\(type)").clientFormPage
        return try await browser.submit(form.adding("ticket", page.ticket), to: page.action)
    }

    /// Registers a client at the console, and returns the client that is stored.
    package mutating func registered(_ form: FormParameters = form()) async throws -> RegisteredClient {
        let reply = try await register(form)
        let id =
            if let page = reply.page as? SecretsPage {
                page.client.clientID
            } else { try reply.clientPage.client.clientID }
        guard let identifier = ClientIdentifier(id), let client = try await test.store.client(identifier) else {
            throw UnexpectedReply(needed: "a registered client", reply: reply)
        }
        return client
    }
}
