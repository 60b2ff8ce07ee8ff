import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import TestSupport
import Testing

/// The matcher, the preview and the authorization endpoint agree.
struct RedirectURIVerdictTests {
    /// URIs to register and to request, with typing errors and attacks among them.
    private static let addresses = [
        "http://127.0.0.1/cb", "http://127.0.0.1:4000/cb", "http://127.0.0.1", "http://127.0.0.1/cb?a=1",
        "http://[::1]/cb", "http://localhost/cb", "http://localhost:4000/", "http://localhost:5173/cb",
        "com.example.app:/cb", "com.example.app:/cb?a=1", "vscode://publisher.app/cb", "https://app.example/cb",
        "https://app.example", "https://app.example:8443/cb", "https://app.example/cb?a=1",
        "https://id.example.com/callback/app_darkroom",
    ]

    @Test(arguments: UInt64(1)...8)
    func `the verdict, the preview, the console and the endpoint never differ`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        for issuer in ["https://id.example.com", "http://127.0.0.1:51004"] {
            for _ in 0..<6 {
                let count = Int.random(in: 0...4, using: &random)
                let registered = Array(
                    Set((0..<count).compactMap { _ in Self.addresses.randomElement(using: &random) }))
                let allowsDevelopment = Int.random(in: 0..<4, using: &random) > 0
                let test = try await TestServer(issuer: issuer) {
                    $0.allowsDevelopmentRedirectURIs = allowsDevelopment
                }
                let type = [ClientType.native, .native, .web, .singlePage].randomElement(using: &random) ?? .native
                let client = try await test.register("Darkroom", type: type, redirectURIs: registered.sorted())
                var administrator = try await Developer("ada", of: test, role: .administrator)
                for uri in client.redirectURIs {
                    let examples = RedirectURIPreview.examples(
                        for: uri, of: client, issuer: test.issuer, allowsDevelopment: allowsDevelopment)
                    for example in examples {
                        try await expectOneAnswer(to: example.uri, of: client, on: test, claimed: example.matches)
                        try await expectSameTrial(of: example.uri, for: client, by: &administrator)
                    }
                }
                for _ in 0..<40 {
                    let requested = Self.requested(registered, &random)
                    try await expectOneAnswer(to: requested, of: client, on: test)
                    if let requested { try await expectSameTrial(of: requested, for: client, by: &administrator) }
                }
            }
        }
    }

    /// The field of the console that tries a URI agrees with the matcher.
    private func expectSameTrial(
        of tried: String, for client: RegisteredClient, by administrator: inout Developer
    ) async throws {
        guard !tried.isEmpty, !client.redirectURIs.isEmpty else { return }
        let query = FormParameters(["uri": tried]).encoded
        let page = try await administrator.browser.open("/apps/\(client.id)?\(query)").clientPage
        let verdict = RedirectURIMatching.verdict(
            on: tried, of: client, asksForOpenID: false, issuer: administrator.test.issuer,
            allowsDevelopment: administrator.test.server.settings.allowsDevelopmentRedirectURIs)
        switch verdict {
        case .matches: #expect(page.trial?.matches == true, "\(tried)")
        case .refused: #expect(page.trial?.matches == false, "\(tried)")
        }
    }

    /// The matcher and the authorization endpoint agree with the preview.
    private func expectOneAnswer(
        to requested: String?, of client: RegisteredClient, on test: TestServer, claimed: Bool? = nil
    ) async throws {
        for scope in ["photos.read", "openid"] {
            let verdict = RedirectURIMatching.verdict(
                on: requested, of: client, asksForOpenID: scope == "openid", issuer: test.issuer,
                allowsDevelopment: test.server.settings.allowsDevelopmentRedirectURIs)
            // An unknown response type is reported to the client once its redirect URI is valid.
            let attempt = Attempt(test, by: client, at: requested, for: scope).with("response_type", "none")
            let reply = await test.send(.get, to: .authorization, query: attempt.request.encoded)
            let comment: Comment = "\(requested ?? "left out") of \(client.redirectURIs), \(scope), \(test.issuer)"
            switch verdict {
            case .matches(let match):
                #expect(reply.location?.hasPrefix(match.redirectURI.uri.rawValue) == true, comment)
                #expect(claimed != false, comment)
            case .refused(let refusal):
                #expect(reply.location == nil, comment)
                #expect(reply.status == .badRequest, comment)
                #expect(try reply.problemPage.explanation.contains(refusal.description), comment)
                #expect(claimed != true || requested == nil, comment)
            }
        }
    }

    /// A URI of the list or a registered one, changed or not; sometimes none.
    private static func requested(_ registered: [String], _ random: inout SeededGenerator) -> String? {
        let bases = Bool.random(using: &random) ? registered : addresses
        guard Int.random(in: 0..<20, using: &random) > 0, var text = bases.randomElement(using: &random) else {
            return nil
        }
        for _ in 0..<Int.random(in: 0...2, using: &random) { text = mutated(text, &random) }
        return text
    }

    private static func mutated(_ text: String, _ random: inout SeededGenerator) -> String {
        func position() -> String.Index {
            text.index(text.startIndex, offsetBy: Int.random(in: 0...text.count, using: &random))
        }
        switch Int.random(in: 0..<12, using: &random) {
        case 0: return text + "/"
        case 1: return text.replacing("/cb", with: "/other", maxReplacements: 1)
        case 2: return text.uppercased()
        case 3: return text + (text.contains("?") ? "&x=1" : "?x=1")
        case 4: return text.replacing("https:", with: "http:")
        case 5: return text.replacing("127.0.0.1", with: "localhost")
        case 6:
            return ["127.0.0.1", "[::1]", "localhost", "app.example"].reduce(text) { changed, host in
                changed.replacing("\(host)/", with: "\(host):\([443, 80, 51004, 51005, 8443][Int(random.next() % 5)])/")
            }
        case 7: return text + "#x"
        case 8: return text.replacing("://", with: "://me@")
        case 9: return text.replacing("app.example", with: "app.example.evil.example")
        case 10: return text.replacing(":/", with: ["://", ":", ":///"][Int(random.next() % 3)], maxReplacements: 1)
        default:
            var changed = text
            let character = "a%:/?#[]@!*\\ é\n.0".randomElement(using: &random) ?? "a"
            changed.insert(character, at: position())
            return changed
        }
    }
}
