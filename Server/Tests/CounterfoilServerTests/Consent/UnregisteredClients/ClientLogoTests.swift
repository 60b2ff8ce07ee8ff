import CounterfoilConsole
import CounterfoilPages
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServerTesting
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

@testable import CounterfoilServer

/// The logos that unregistered clients publish.
struct ClientLogoTests {
    private static let url = "https://cdn.viewer.example/logo"

    private static func file(_ bytes: [UInt8], type: String? = "image/png") -> ClientFileFetch {
        .answered(.init(status: 200, contentType: type, body: bytes))
    }

    private static func page(_ viewer: DocumentClient) async throws -> (page: ConsentPage, browser: ScriptedUserAgent) {
        var browser = try await viewer.browser()
        return (try await browser.open(viewer.attempt().url).consentPage, browser)
    }

    // draft-ietf-oauth-client-id-metadata-document §6.7
    @Test(arguments: ["image/png", "IMAGE/JPEG; q=1"])
    func `a logo is fetched, encoded again and served by this server`(type: String) async throws {
        let viewer = try await DocumentClient(["logo_uri": .string(Self.url)])
        let picture =
            type == "image/png"
            ? try SampleImages.png(width: 200, height: 200) : try SampleImages.jpeg(width: 200, height: 200)
        viewer.files.set(Self.url, Self.file(picture + Array("<script>".utf8), type: type))
        var (page, browser) = try await Self.page(viewer)
        let path = try #require(page.clientLogo)
        guard case .image(let logo) = try await browser.open(path).content else {
            Issue.record("no image at \(path)")
            return
        }
        #expect(path == "/logos/\(logo.id)")
        #expect(try ContentFormats.standard.logo(picture) == logo)
        let html = try await browser.open(viewer.attempt().url).html()
        #expect(!html.contains("cdn.viewer.example"))
        #expect(viewer.files.requests.filter { $0.url.rawValue == Self.url }.count == 1)
        #expect(viewer.files.requests.last?.byteLimit == 256 * 1024)

        // The account shows it after the consent, too.
        _ = try await browser.decide(.allow, on: try await browser.open(viewer.attempt().url))
        #expect(try await browser.open("/account").accountPage.clients.first?.logo == path)
        #expect(try await viewer.test.store.client(viewer.client.id)?.presentation.logo == nil)
    }

    // The page shows initials.
    @Test(arguments: [
        file(Array("<svg onload=\"alert(1)\"/>".utf8), type: "image/svg+xml"),
        file(Array("<svg onload=\"alert(1)\"/>".utf8)), file([]), file(Logo.Format.png.signature),
        file((try? SampleImages.png(width: 8, height: 8)) ?? [], type: "text/html"),
        file((try? SampleImages.png(width: 8, height: 8)) ?? [], type: nil),
        file([UInt8](repeating: 0xFF, count: 256 * 1024 + 1)), .answered(.init(status: 404)),
        .answered(.init(status: 302)), .failed(.notPublic), .failed(.timedOut), .failed(.tooLarge), .failed(.busy),
    ])
    func `a logo that cannot be used leaves the initials, without an error`(response: ClientFileFetch) async throws {
        let viewer = try await DocumentClient(["logo_uri": .string(Self.url)])
        viewer.files.set(Self.url, response)
        let (page, _) = try await Self.page(viewer)
        #expect(page.clientLogo == nil)
        #expect(page.clientInitials == "PV")
    }

    @Test(arguments: [
        "http://cdn.viewer.example/logo", "data:image/png;base64,AAAA", "https://user@cdn.viewer.example/l",
    ])
    func `a logo without an https URL is not fetched`(url: String) async throws {
        let viewer = try await DocumentClient(["logo_uri": .string(url)])
        #expect(try await Self.page(viewer).page.clientLogo == nil)
        #expect(viewer.files.requests.map(\.url.rawValue) == [DocumentClient.url])
    }

    @Test func `a client that registered itself has a logo, too`() async throws {
        let viewer = try await DocumentClient()
        viewer.files.set(Self.url, Self.file(try SampleImages.png(width: 50, height: 50)))
        let client = try await DocumentClient.selfRegistered(
            in: viewer.test, redirectURIs: ["http://127.0.0.1/cb"], metadata: ["logo_uri": .string(Self.url)])
        var browser = try await viewer.browser()
        let page = try await browser.open(Attempt(viewer.test, by: client, at: "http://127.0.0.1:4000/cb").url)
        #expect(try page.consentPage.clientLogo != nil)
    }

    @Test func `a host that does not answer delays no page and no other host`() async throws {
        let files = StallingFiles(Self.file(try SampleImages.png(width: 20, height: 20)))
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let slow = try Self.client(logo: "https://slow.example/logo")
        let fast = try Self.client(logo: "https://fast.example/logo")
        let hasty = ClientLogos(fetcher: files, encoder: LogoEncoder(.standard), patience: .milliseconds(1))
        for _ in 0..<5 { #expect(await hasty.logo(of: slow, now: now) == nil) }
        // However often the page is opened, one request is sent.
        #expect(files.slowRequests <= 1)

        let patient = ClientLogos(fetcher: files, encoder: LogoEncoder(.standard), patience: .seconds(600))
        async let first = patient.logo(of: slow, now: now)
        #expect(await patient.logo(of: fast, now: now) != nil)
        async let second = patient.logo(of: slow, now: now)
        files.release()
        let ids = await [first, second]
        #expect(ids[0] != nil && ids[0] == ids[1])
        #expect(files.slowRequests <= 2)
    }

    @Test func `the memory of logos is bounded`() async throws {
        let files = ScriptedClientFiles()
        let logos = ClientLogos(fetcher: files, encoder: LogoEncoder(.standard))
        var now = Date(timeIntervalSince1970: 1_800_000_000)
        var ids: [LogoIdentifier] = []
        for number in 0...ClientLogos.limit {
            now += 1
            let url = "https://host\(number).example/logo"
            files.set(url, Self.file(try SampleImages.png(width: 8 + number, height: 8)))
            ids.append(try #require(await logos.logo(of: try Self.client(logo: url), now: now)))
        }
        #expect(Set(ids).count == ClientLogos.limit + 1)
        #expect(await logos.logo(ids[0]) == nil)
        #expect(await logos.logo(ids[1]) != nil)
        #expect(await logos.logo(ids[ClientLogos.limit]) != nil)
    }

    private static func client(logo: String) throws -> RegisteredClient {
        let id = try #require(ClientIdentifier("https://viewer.example/c"))
        return RegisteredClient(
            id: id, type: .native, presentation: ClientPresentation(name: "Viewer"), redirectURIs: [], scope: Scope(),
            source: .document(Array(#"{"logo_uri":"\#(logo)"}"#.utf8)), policy: .standard(for: .native),
            createdAt: Date(timeIntervalSince1970: 1_800_000_000))
    }
}

/// Files whose host `slow.example` answers only after ``release()``.
private final class StallingFiles: ClientFileFetcher {
    private struct State {
        var isReleased = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var slowRequests = 0
    }

    private let file: ClientFileFetch
    private let state = Mutex(State())

    init(_ file: ClientFileFetch) { self.file = file }

    /// The number of requests to the slow host.
    var slowRequests: Int { state.withLock { $0.slowRequests } }

    func release() {
        let waiting = state.withLock { state in
            state.isReleased = true
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func fetch(_ request: ClientFileRequest, for context: RequestContext?) async -> ClientFileFetch {
        guard request.url.host == "slow.example" else { return file }
        await withCheckedContinuation { continuation in
            let mayContinue = state.withLock { state in
                state.slowRequests += 1
                if !state.isReleased { state.waiting.append(continuation) }
                return state.isReleased
            }
            if mayContinue { continuation.resume() }
        }
        return file
    }
}
