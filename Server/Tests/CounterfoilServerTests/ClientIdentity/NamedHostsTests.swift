import CounterfoilPages
import CounterfoilProtocol
import CounterfoilServerTesting
import CounterfoilStore
import Testing

@testable import CounterfoilServer

/// Names of clients with something in them that users would take for a host.
struct NamedHostsTests {
    @Test(
        arguments: [
            ("My Bank (bank.example.com)", ["bank.example.com"]), ("BANK.Example.COM.", ["bank.example.com"]),
            ("https://bank.example/login", ["bank.example"]), ("alice@bank.example", ["bank.example"]),
            ("by bank.example:8443, really", ["bank.example"]), ("App (127.0.0.1)", ["127.0.0.1"]),
            ("Local (localhost)", ["localhost"]), ("App ([::1])", ["[::1]"]),
            ("xn--bcher-kva.example", ["xn--bcher-kva.example"]),
            ("b\u{FF41}nk\u{FF0E}example", ["bank.example"]), ("bank\u{3002}example", ["bank.example"]),
            ("bank\u{2024}example", ["bank.example"]), ("b\u{FC}cher.example", ["b\u{FC}cher.example"]),
        ] as [(String, [String])])
    func `a name with a host is found out, however it is written`(name: String, hosts: [String]) {
        #expect(NamedHosts(in: name).all == hosts)
    }

    // The form of an app can contain a name of any length.
    @Test func `a long text is searched in one pass`() {
        #expect(NamedHosts(in: "[" + String(repeating: ":", count: 30_000)).all == [])
    }

    @Test(arguments: [
        "Lightbox", "Photos 2.0", "Photo Viewer 1.2.3", "Dr. Photo", "Inc.", "e.g. a viewer", "Node.js sample",
        ".NET app",
        "Wait... what", "A/B test", "10:20:30", "std::fs", "[beta]", "localhosts", "U.S. photos", "\u{202E}",
    ])
    func `a name without a host is left alone`(name: String) {
        #expect(NamedHosts(in: name).all == [])
    }

    @Test(
        arguments: [
            (ClientType.web, "Example.com Photos", ["https://app.example.com/cb"], nil),
            (.web, "app.example.com", ["https://app.example.com/cb", "http://localhost:5173/cb"], nil),
            (.web, "www.example.com", ["https://app.example.com/cb"], nil),
            (.singlePage, "Localhost", ["http://localhost:5173/cb"], nil),
            (.native, "app.example.com", ["https://app.example.com/cb"], nil),
            (.web, "bank.example", ["https://app.example.com/cb"], "bank.example"),
            (.web, "notexample.com", ["https://example.com/cb"], "notexample.com"),
            (.web, "github.io", ["https://mallory.github.io/cb"], "github.io"),
            (.web, "co.uk", ["https://mallory.co.uk/cb"], "co.uk"),
            // The response could go to the other one.
            (.web, "bank.example", ["https://bank.example/cb", "https://mallory.example/cb"], "bank.example"),
            (.native, "bank.example", ["https://bank.example/cb", "com.mallory.app:/cb"], "bank.example"),
            (.native, "bank.example", ["https://bank.example/cb", "http://127.0.0.1/cb"], "bank.example"),
            (.singlePage, "bank.example", ["http://localhost:5173/cb"], "bank.example"),
            (.device, "bank.example", [], "bank.example"),
        ] as [(ClientType, String, [String], String?)])
    func `a host is the client's own if every response goes there`(
        type: ClientType, name: String, redirectURIs: [String], foreign: String?
    ) throws {
        let uris = try redirectURIs.map { try RedirectURI($0) }
        #expect(NamedHosts(in: name).foreign(to: uris, of: type) == foreign)
    }

    @Test func `without a public suffix list only the same host is the client's own`() throws {
        let uris = [try RedirectURI("https://app.example.com/cb")]
        #expect(NamedHosts(in: "app.example.com").foreign(to: uris, of: .web, suffixes: nil) == nil)
        #expect(NamedHosts(in: "example.com").foreign(to: uris, of: .web, suffixes: nil) == "example.com")
    }

    @Test func `a name and a publisher with a host that is not the client's own are refused`() async throws {
        let rules = ClientRules(try await TestServer().server.settings, formats: .standard)
        var draft = ClientDraft()
        draft.redirectURIs = ["https://app.example.com/cb"]
        draft.scopes = ["openid"]
        draft.name = "Mein Bank (bank.example.com.evil.example)"
        draft.publisher = "bank.example.net"
        let refusal = #expect(throws: ClientRegistrationRefusal.self) {
            try rules.check(draft, type: .web, id: ClientIdentifier(), isFirstParty: false)
        }
        #expect(refusal?.problems.map(\.field) == [.name, .publisher])
        #expect(
            refusal.map { Localizer.english($0.problems[0].text) }?.hasPrefix(
                "bank.example.com.evil.example looks like a host name") == true)
        draft.name = "Example.com Photos"
        draft.publisher = "app.example.com"
        #expect(throws: Never.self) {
            try rules.check(draft, type: .web, id: ClientIdentifier(), isFirstParty: false)
        }
    }

    // A registration can be older than the rule, and the name of its app be a host by chance.
    @Test func `a registered name stays, unless a change makes its host foreign`() async throws {
        let test = try await TestServer()
        let rules = ClientRules(test.server.settings, formats: .standard)
        func fields(_ draft: ClientDraft) -> [ClientField] {
            let refusal = Result { () throws(ClientRegistrationRefusal) in
                try rules.check(draft, type: .web, id: nil, isFirstParty: false)
            }
            if case .failure(let refusal) = refusal { return refusal.problems.map(\.field) }
            return []
        }
        let address = "https://app.example.com/cb"
        let former = try await test.register(
            "ASP.NET sample", type: .web, redirectURIs: [address], publisher: "Booking.com")
        var draft = ClientDraft(former)
        draft.redirectURIs = ["https://new.example.com/cb"]
        draft.privacyURI = "https://app.example.com/privacy"
        #expect(fields(draft) == [])
        draft.name = "ASP.NET samples"
        draft.publisher = "booking.com"
        #expect(fields(draft) == [.name, .publisher])
        var own = ClientDraft(
            try await test.register("Example.com Photos", type: .web, redirectURIs: [address]))
        #expect(fields(own) == [])
        own.redirectURIs = ["https://mallory.example/cb"]
        #expect(fields(own) == [.name])
    }
}
