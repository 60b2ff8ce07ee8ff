import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The origins of single-page clients at My Apps.
struct ClientOriginPageTests {
    // The origins are those of the redirect URIs, unless the developer enters others.
    @Test func `the origins of a single-page app follow from its redirect URIs unless given`() async throws {
        let test = try await TestServer()
        var developer = try await Developer("dora", of: test)
        let client = try await developer.registered(
            Developer.form(type: "spa", redirectURIs: "https://a.example/1\nhttps://a.example/2"))
        #expect(client.origins.map(\.rawValue) == ["https://a.example"])
        func change(_ redirectURIs: String, _ origins: String? = nil) async throws -> [String] {
            let edit = try await developer.browser.open("/apps/\(client.id)/edit").clientFormPage
            let shown = edit.origins?.value ?? ""
            let form = Developer.form(type: "spa", redirectURIs: redirectURIs).adding("origins", origins ?? shown)
                .adding("ticket", edit.ticket).adding("revision", String(edit.revision))
            _ = try await developer.browser.submit(form, to: edit.action).clientPage
            return try #require(try await test.store.client(client.id)).origins.map(\.rawValue)
        }
        #expect(try await change("https://b.example/1") == ["https://b.example"])
        #expect(try await change("https://b.example/1", "https://c.example") == ["https://c.example"])
        #expect(try await change("https://d.example/1") == ["https://c.example"])
        #expect(try await change("https://d.example/1", "") == ["https://d.example"])
        let any = "http://localhost:*\nhttp://127.0.0.1:8080"
        #expect(try await change("https://d.example/1", any) == ["http://localhost:*", "http://127.0.0.1:8080"])
        let page = try await developer.browser.open("/apps/\(client.id)")
        #expect(try page.clientPage.origins.map(\.isAnyPort) == [true, false])
        #expect(try page.html().contains("<code>http://localhost:*</code> (any port)"))
    }

    @Test(arguments: [
        "https://app.example.com/", "https://app.example.com/path", "https://app.example.com?a",
        "https://a@app.example.com",
        "https://app.example.com:0", "https://app.example.com:70000", "https://app.example.com:443",
        "http://localhost:0", "http://localhost:70000", "http://localhost/", "http://a@localhost:5173",
        "http://app.example.com", "https://*.example.com", "https://app.example.com:*", "https://localhost:*", "*",
        "null",
        "http://localhost:*/", "http://*:5173", "http://127.0.0.2:*", "https://App.example.com", "app.example.com",
        "https://", "https://app.example.com#a", "com.example.app:/cb", "https://app%2eexample.com",
    ])
    func `anything but an origin is refused with an explanation`(text: String) async throws {
        var developer = try await Developer("dora", of: try await TestServer())
        let form = Developer.form(type: "spa", redirectURIs: "https://app.example.com/cb").adding("origins", text)
        let reply = try await developer.register(form)
        #expect(reply.status == .badRequest)
        let problem = try #require(try reply.clientFormPage.problems.first)
        #expect(problem.field == "origins")
        #expect(problem.text.hasPrefix("\(text) is not an origin.") && problem.text.contains("no path"))
    }
}
