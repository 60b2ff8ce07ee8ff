import CounterfoilConsole
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// The page that checks whether the hosts of claimed URLs list the app.
struct ClientAssociationTests {
    /// A fetcher that serves no file and records the requests.
    private final class NoFiles: AssociationFetcher {
        let asked = Mutex<[String]>([])

        func fetch(_ url: AbsoluteURI, for request: RequestContext?) async -> AssociationFetch {
            asked.withLock { $0.append(url.rawValue) }
            return .answered(status: 404, contentType: nil, body: [])
        }
    }

    private static func form(hosts: Int) -> FormParameters {
        let fingerprint = String(repeating: "AB:", count: 31) + "AB"
        return Developer.form(
            redirectURIs: (1...hosts).map { "https://host\($0).example.com/cb" }.joined(separator: "\n")
        )
        .adding("apple_apps", "ABCDE12345.com.example.one\nABCDE12345.com.example.two")
        .adding("android_apps", "com.example.one:\(fingerprint)")
    }

    // Each file is fetched once for all apps that it should list, and skipped hosts are named.
    @Test func `each file is fetched once, and hosts beyond the limit are named`() async throws {
        let fetcher = NoFiles()
        var developer = try await Developer("dora", of: try await TestServer(associations: fetcher))
        let client = try await developer.registered(Self.form(hosts: 5))
        let page = try await developer.browser.open("/apps/\(client.id)/association").associationPage
        #expect(page.findings == nil && page.hosts.count == 5)
        let looked = try await developer.browser.submit(FormParameters(["ticket": page.ticket]), to: page.action)
            .associationPage
        let asked = fetcher.asked.withLock { $0 }
        #expect(asked.count == 8 && Set(asked).count == 8)
        #expect(looked.findings?.count == 12)
        #expect(
            looked.notLookedAt == [
                "https://host5.example.com/.well-known/apple-app-site-association",
                "https://host5.example.com/.well-known/assetlinks.json",
            ])
    }

    // The limit keeps a developer from using this server to flood another.
    @Test func `frequent checks are throttled`() async throws {
        let fetcher = NoFiles()
        let test = try await TestServer(associations: fetcher)
        var developer = try await Developer("dora", of: test)
        let client = try await developer.registered(Self.form(hosts: 1))
        let page = try await developer.browser.open("/apps/\(client.id)/association").associationPage
        let form = FormParameters(["ticket": page.ticket])
        for _ in 0..<5 {
            #expect(try await developer.browser.submit(form, to: page.action).status == .ok)
        }
        let late = try await developer.browser.submit(form, to: page.action)
        #expect(late.status == .tooManyRequests)
        #expect(late.fields[.retryAfter] == "60")
        #expect(try late.associationPage.wait != nil)
        #expect(try late.associationPage.findings == nil)
        #expect(fetcher.asked.withLock { $0.count } == 10)

        var other = try await Developer("ada", of: test, role: .administrator)
        let theirs = try await other.browser.open("/apps/\(client.id)/association").associationPage
        #expect(
            try await other.browser.submit(FormParameters(["ticket": theirs.ticket]), to: theirs.action).status == .ok)
        test.clock.advance(by: 61)
        #expect(try await developer.browser.submit(form, to: page.action).status == .ok)
    }
}
