import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Testing

/// The owner's texts of a scope on the consent page, in the language of the request.
struct ScopeTextTests {
    private static func title(_ locale: String, _ texts: [Language: String]) async throws -> String? {
        let test = try await TestServer()
        let former = try #require(try await test.store.scopes().first { $0.token.rawValue == "photos.read" })
        var scope = former
        scope.texts = texts
        #expect(try await test.store.updateScope(scope, from: former) == .updated)
        let page = try await Attempt(test).with("ui_locales", locale).consentPage()
        return page.permissions.first { $0.scope == "photos.read" }?.title
    }

    // SEC-850
    @Test(arguments: [
        ("de", "Ihre Fotos sehen"), ("nn", "Se bildene dine"), ("fr", "See your photos and albums"),
        ("en", "See your photos and albums"),
    ])
    func `a scope is described in the language of the request, or else in the standard one`(
        locale: String, title: String
    ) async throws {
        #expect(
            try await Self.title(locale, [.german: "Ihre Fotos sehen", .norwegian: "Se bildene dine"]) == title)
    }

    @Test func `an owner's text of a standard scope comes before that of the catalogue`() {
        var scope = ScopeDefinition(token: .openID, description: "Sign you in")
        let catalogue = Localizer(.german)(scope)
        #expect(catalogue != "Sign you in")
        scope.texts = [.german: "Bei uns anmelden"]
        #expect(Localizer(.german)(scope) == "Bei uns anmelden")
        #expect(Localizer(.french)(scope) != "Sign you in")
        // A changed description is the owner's text in each language without another one.
        scope.description = "Join"
        #expect(Localizer(.french)(scope) == "Join" && Localizer(.german)(scope) == "Bei uns anmelden")
    }
}
