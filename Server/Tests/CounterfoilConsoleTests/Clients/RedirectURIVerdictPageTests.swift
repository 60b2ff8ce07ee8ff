import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The verdicts about redirect URIs: when the page is shown, while they are typed, and when they are saved.
struct RedirectURIVerdictPageTests {
    /// A verdict as the script parses it.
    private struct Live: Decodable {
        struct Example: Decodable {
            let uri: String
            let matches: Bool
            let why: String
        }

        let uri: String
        let state: String
        let words: [String]
        let examples: [Example]
    }

    private static func live(_ developer: inout Developer, _ form: FormParameters) async throws -> [Live] {
        let reply = try await developer.browser.send(.post, to: "/apps/verdict", form: form)
        return try JSONDecoder().decode([Live].self, from: Data(try reply.json))
    }

    // The verdict uses the matcher of the authorization endpoint.
    @Test func `the form shows what will match before it is saved`() async throws {
        var developer = try await Developer("dora", of: try await TestServer())
        let form = Developer.form(redirectURIs: "http://127.0.0.1/callback\nmyapp:/cb\nhttp://localhost/callback")
        let page = try await developer.register(form.adding("action", "check")).clientFormPage
        let verdicts = try #require(page.addresses).redirectURIs.verdicts
        #expect(verdicts.map(\.state) == [.accepted, .refused, .warned])
        let examples = Dictionary(uniqueKeysWithValues: verdicts[0].examples.map { ($0.uri, $0.matches) })
        #expect(examples["http://127.0.0.1:51004/callback"] == true)
        #expect(examples["http://127.0.0.1/callback/"] == false)
        // The verdict also considers the other lines of the form.
        #expect(examples["http://localhost/callback"] == true)
        #expect(verdicts[1].examples.isEmpty)

        let live = try await Self.live(&developer, form)
        #expect(live.map(\.state) == verdicts.map(\.state.rawValue))
        #expect(live.map { $0.examples.map(\.uri) } == verdicts.map { $0.examples.map(\.uri) })
        #expect(live.map(\.words) == verdicts.map(\.words))
    }

    // The only URL of this server that a client may register depends on its client identifier.
    @Test func `the verdict while typing equals the verdict when saving`() async throws {
        let test = try await TestServer()
        var developer = try await Developer("dora", of: test)
        let client = try await developer.registered()
        let other = try await developer.registered(Developer.form(redirectURIs: "com.example.other:/callback"))
        let lines = [
            "https://id.example.com/callback/\(client.id)", "https://id.example.com/callback/\(other.id)",
            "com.example.other:/callback", "com.example.lightbox:/callback",
        ]
        let edit = try await developer.browser.open("/apps/\(client.id)/edit").clientFormPage
        let form = Developer.form(redirectURIs: lines.joined(separator: "\n"))
            .adding("client_id", client.id.rawValue).adding("apple_apps", "ABCDE12345.com.example.lightbox")
            .adding("ticket", edit.ticket).adding("revision", String(edit.revision))
        let live = try await Self.live(&developer, form)
        #expect(live.map(\.state) == ["accepted", "refused", "warned", "accepted"])
        // The scheme is the bundle identifier, so there is no warning.
        #expect(live.last?.words.isEmpty == true)

        let checked = try await developer.browser.submit(form.adding("action", "check"), to: edit.action)
            .clientFormPage
        #expect(checked.addresses?.redirectURIs.verdicts.map(\.state.rawValue) == live.map(\.state))
        let refused = try await developer.browser.submit(form, to: edit.action)
        #expect(refused.status == .badRequest)
        let saved = try refused.clientFormPage
        #expect(saved.addresses?.redirectURIs.verdicts.map(\.words) == live.map(\.words))
        // The field does not repeat the verdict of the line.
        #expect(saved.addresses?.redirectURIs.problem == "One line is refused; see below.")
        #expect(saved.problems.count == 1)
    }

    @Test(arguments: ["web", "spa"])
    func `a developer registers a development redirect URI and reads what it is for`(type: String) async throws {
        var developer = try await Developer("dora", of: try await TestServer())
        let new = try await developer.browser.open("/apps/new?type=\(type)")
        #expect(try new.html().contains("<code>http://localhost:5173/callback</code>"))
        let form = Developer.form(
            type: type, redirectURIs: "http://localhost:5173/callback\nhttp://localhost/\nhttps://localhost/cb")
        let page = try await developer.register(form.adding("action", "check")).clientFormPage
        let verdicts = try #require(page.addresses).redirectURIs.verdicts
        #expect(verdicts.map(\.state) == [.accepted, .accepted, .refused])
        #expect(verdicts[0].words.joined().contains("Only port 5173 matches."))
        #expect(verdicts[1].words.joined().contains("Any port matches."))
        #expect(verdicts[2].words.joined().contains("http://localhost:5173/callback"))
        #expect(try await Self.live(&developer, form).map(\.words) == verdicts.map(\.words))

        let client = try await developer.registered(
            Developer.form(type: type, redirectURIs: "http://localhost:5173/callback"))
        let query = FormParameters(["uri": "http://localhost:5174/callback"]).encoded
        let shown = try await developer.browser.open("/apps/\(client.id)?\(query)").clientPage
        #expect(shown.addresses.first?.kind == "For development: http on the developer's own device.")
        #expect(shown.addresses.first?.notes.joined().contains("asked for consent each time") == true)
        #expect(shown.addresses.first?.warnings == [])
        #expect(shown.trial?.matches == false)
        #expect(shown.trial?.differences == ["The port differs."])
    }

    @Test func `the form refuses a development redirect URI that is switched off`() async throws {
        let test = try await TestServer { $0.allowsDevelopmentRedirectURIs = false }
        var developer = try await Developer("dora", of: test)
        let new = try await developer.browser.open("/apps/new?type=spa")
        #expect(try !new.html().contains("http://localhost:5173/callback"))
        let form = Developer.form(type: "spa", redirectURIs: "http://localhost:5173/callback")
        let reply = try await developer.register(form)
        #expect(reply.status == .badRequest)
        let verdict = try #require(try reply.clientFormPage.addresses?.redirectURIs.verdicts.first)
        #expect(verdict.state == .refused)
        #expect(verdict.words.joined().contains("--no-development-redirect-uris"))
    }

    @Test func `a new client can register its own callback URL`() async throws {
        var developer = try await Developer("dora", of: try await TestServer())
        let page = try await developer.browser.open("/apps/new?type=native").clientFormPage
        let blank = try await developer.browser.submit(
            Developer.form().adding("ticket", page.ticket), to: page.action)
        let id = try blank.clientPage.client.clientID
        // The page sends the client identifier that it will assign.
        let live = try await Self.live(
            &developer,
            Developer.form(redirectURIs: "https://id.example.com/callback/\(id)").adding("ticket", page.ticket))
        #expect(live.map(\.state) == ["accepted"])
    }

    @Test func `the verdicts reveal nothing about the clients of other developers`() async throws {
        let test = try await TestServer()
        var owner = try await Developer("dora", of: test)
        let client = try await owner.registered()
        var other = try await Developer("eve", of: test)
        for id in [client.id.rawValue, "app_AAAAAAAAAAAAAAAAAAAAAA"] {
            let form = Developer.form(redirectURIs: "https://id.example.com/callback/\(id)").adding("client_id", id)
            #expect(try await other.browser.send(.post, to: "/apps/verdict", form: form).status == .notFound)
        }
    }

    // The page of the client repeats the warning of the form.
    @Test func `a scheme of another client gets a warning after saving too`() async throws {
        var developer = try await Developer("dora", of: try await TestServer())
        _ = try await developer.registered()
        let second = try await developer.registered()
        let page = try await developer.browser.open("/apps/\(second.id)").clientPage
        #expect(page.addresses.first?.warnings.contains { $0.contains("com.example.lightbox") } == true)
    }

    // For a URI that does not match, the page shows the nearest registered URI and the difference.
    @Test(arguments: [
        ("https://app.example.com/callback/", "https://app.example.com/callback", "The slash at the end differs."),
        ("https://app.example.com:8443/callback", "https://app.example.com/callback", "The port differs."),
        ("http://127.0.0.1:5000/Callback", "http://127.0.0.1/callback", "Upper and lower case differ."),
        (
            "http://localhost/callback", "http://127.0.0.1/callback",
            "localhost, 127.0.0.1 and [::1] are not interchangeable."
        ),
        ("com.example.lightbox://callback", "com.example.lightbox:/callback", "There are two slashes instead of one."),
        ("com.example.lightbox2:/callback", "com.example.lightbox:/callback", "The scheme differs."),
    ])
    func `a tried URI is compared with the nearest registered one`(
        tried: String, nearest: String, why: String
    ) async throws {
        var developer = try await Developer("dora", of: try await TestServer())
        let client = try await developer.registered(
            Developer.form(
                redirectURIs: [
                    "https://app.example.com/callback", "http://127.0.0.1/callback", "com.example.lightbox:/callback",
                ].joined(separator: "\n")))
        let query = FormParameters(["uri": tried]).encoded
        let trial = try #require(try await developer.browser.open("/apps/\(client.id)?\(query)").clientPage.trial)
        #expect(trial.matches == false)
        #expect(trial.nearest == nearest)
        #expect(trial.differences == [why])
    }
}
