import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import HTTPTypes
import Testing

/// A user in a browser who manages clients.
struct Developer {
    let test: TestServer
    var browser: ScriptedUserAgent

    init(_ name: String, of test: TestServer, isAdministrator: Bool = false) async throws {
        self.test = test
        _ = try await test.addPerson(name, email: "\(name)@example.com", isAdministrator: isAdministrator)
        browser = test.browser()
        try await browser.signInToConsole(username: name)
    }

    /// The form of a new client, filled in.
    static func form(
        _ name: String = "Lightbox Two", type: String = "native",
        redirectURIs: String = "com.example.lightbox:/callback", scopes: [String] = ["openid", "photos.read"]
    ) -> FormParameters {
        var form = FormParameters(["type": type, "name": name, "redirect_uris": redirectURIs])
        for scope in scopes { form.append("scope", scope) }
        return form
    }

    /// Registers a client; returns the response to the form after redirects.
    mutating func register(_ form: FormParameters) async throws -> Reply {
        let type = form.pairs.first { $0.name == "type" }?.value ?? "native"
        let page = try await browser.open("/apps/new?type=\(type)").applicationFormPage
        return try await browser.submit(form.adding("ticket", page.ticket), to: page.action)
    }

    /// Registers a client; returns it as stored.
    mutating func registered(_ form: FormParameters = form()) async throws -> RegisteredClient {
        let reply = try await register(form)
        let id =
            if let page = reply.page as? SecretsPage {
                page.application.clientID
            } else { try reply.applicationPage.application.clientID }
        let identifier = try #require(ClientIdentifier(id))
        return try #require(try await test.store.client(identifier))
    }
}

extension Reply {
    private func unexpected(_ needed: String) -> Unexpected { Unexpected(description: "\(needed), not \(self)") }

    /// An unexpected response.
    struct Unexpected: Error, CustomStringConvertible { let description: String }

    var applicationsPage: ApplicationsPage {
        get throws {
            guard let page = self.page as? ApplicationsPage else { throw unexpected("the list") }
            return page
        }
    }

    var applicationFormPage: ApplicationFormPage {
        get throws {
            guard let page = self.page as? ApplicationFormPage else { throw unexpected("the form") }
            return page
        }
    }

    var applicationPage: ApplicationPage {
        get throws {
            guard let page = self.page as? ApplicationPage else { throw unexpected("the application") }
            return page
        }
    }

    var secretsPage: SecretsPage {
        get throws {
            guard let page = self.page as? SecretsPage else { throw unexpected("the secrets") }
            return page
        }
    }

    var policyPage: PolicyPage {
        get throws {
            guard let page = self.page as? PolicyPage else { throw unexpected("the policy") }
            return page
        }
    }

    var logoPage: LogoPage {
        get throws {
            guard let page = self.page as? LogoPage else { throw unexpected("the picture") }
            return page
        }
    }

    var associationPage: AssociationPage {
        get throws {
            guard let page = self.page as? AssociationPage else { throw unexpected("the claimed addresses") }
            return page
        }
    }

    var connectPage: ConnectPage {
        get throws {
            guard let page = self.page as? ConnectPage else { throw unexpected("how to connect") }
            return page
        }
    }

    var administrationPage: AdministrationPage {
        get throws {
            guard let page = self.page as? AdministrationPage else { throw unexpected("the administration") }
            return page
        }
    }

    var brandingPage: BrandingPage {
        get throws {
            guard let page = self.page as? BrandingPage else { throw unexpected("the look") }
            return page
        }
    }
}
