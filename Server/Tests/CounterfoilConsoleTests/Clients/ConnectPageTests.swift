import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The page How to connect.
struct ConnectPageTests {
    // Ready to paste, with short lines.
    @Test func `the sign-in command has one option in each line`() async throws {
        var developer = try await Developer("dora", of: try await TestServer())
        let client = try await developer.registered(Developer.form(redirectURIs: "http://127.0.0.1/callback"))
        let page = try await developer.browser.open("/apps/\(client.id)/connect").connectPage
        #expect(
            page.command == #"""
                counterfoil login https://id.example.com \
                  --client-id \#(client.id) \
                  --redirect-uri http://127.0.0.1/callback \
                  --scope 'openid photos.read'
                """#)
        #expect(page.paths.isAtConnect && !page.paths.isAtOverview)
        #expect(!page.configurations.contains { $0.product.contains("command line") })
        #expect(page.secretsPath == nil)
    }

    @Test func `the page How to connect has the endpoints and the configurations of a web client`() async throws {
        var developer = try await Developer("dora", of: try await TestServer())
        let client = try await developer.registered(
            Developer.form(type: "web", redirectURIs: "https://lightbox.example.com/callback"))
        let page = try await developer.browser.open("/apps/\(client.id)/connect").connectPage
        let values = Dictionary(page.values.map { ($0.name, $0.value) }) { first, _ in first }
        #expect(values["Discovery URL"] == "https://id.example.com/.well-known/openid-configuration")
        #expect(values["Public keys (JWKS)"] == "https://id.example.com/oauth2/jwks")
        #expect(values["Introspection endpoint"] == "https://id.example.com/oauth2/introspect")
        #expect(values["Revocation endpoint"] == "https://id.example.com/oauth2/revoke")
        #expect(values["Client authentication"] == "client_secret_basic, client_secret_post")
        #expect(values["Algorithm of ID tokens"] != nil)
        #expect(page.values.contains { $0.name == "PKCE" && !$0.isLiteral })
        #expect(values["Profile and email in ID tokens"] == "Yes")
        let spring = try #require(page.configurations.first { $0.file.hasSuffix("application.yml") })
        #expect(spring.text.contains(client.id.rawValue))
        #expect(page.secretsPath == page.paths.secrets)
        #expect(page.command == nil)
    }

    @Test func `the page How to connect has the APIs of the app, with their URIs and scopes`() async throws {
        let test = try await TestServer()
        _ = try await test.addAPI("https://photos.example.com", scope: "photos.read")
        var developer = try await Developer("dora", of: test)
        let client = try await developer.registered(
            Developer.form(
                redirectURIs: "http://127.0.0.1/callback", scopes: ["openid", "photos.read", "photos.write"]))
        let one = try await developer.browser.open("/apps/\(client.id)/connect")
        #expect(
            try one.connectPage.apis == [
                ConnectPage.API(
                    name: "Photo library", resource: "https://photos.example.com", scope: "photos.read")
            ])
        #expect(try !one.connectPage.needsResource)
        #expect(try one.connectPage.command?.contains("--resource") == false)
        #expect(try one.html().contains("<code>https://photos.example.com</code>"))

        _ = try await test.addAPI("https://upload.example.com", scope: "photos.write")
        let two = try await developer.browser.open("/apps/\(client.id)/connect").connectPage
        #expect(two.apis.map(\.resource) == ["https://photos.example.com", "https://upload.example.com"])
        #expect(two.needsResource)
        #expect(two.command?.contains("--resource https://upload.example.com \\\n") == true)
    }

    // The origins of a single-page client follow from its redirect URIs, unless it names them.
    @Test(arguments: [
        ("", ["https://lightbox.example.com", "http://localhost:5173"]),
        ("https://other.example.com", ["https://other.example.com"]),
    ])
    func `the page How to connect has the CORS origins of a single-page client`(
        named: String, origins: [String]
    ) async throws {
        var developer = try await Developer("dora", of: try await TestServer())
        let uris = "https://lightbox.example.com/callback\r\nhttp://localhost:5173/"
        let client = try await developer.registered(
            Developer.form(type: "spa", redirectURIs: uris).adding("origins", named))
        let page = try await developer.browser.open("/apps/\(client.id)/connect").connectPage
        #expect(page.values.filter { $0.name == "Origin (CORS)" }.map(\.value) == origins)
        #expect(page.values.contains { $0.name == "Profile and email in ID tokens" && $0.value == "No" })
    }
}
