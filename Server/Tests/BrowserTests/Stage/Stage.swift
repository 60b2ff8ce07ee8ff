import Foundation
import TestSupport
import Testing

/// A server with users and a client, and one Chromium, which the tests of a suite share one after the
/// other.
struct Stage: Sendable {
    @TaskLocal fileprivate static var shared: Stage?

    let site: Site
    let browser: Browser
    /// The `client_id` of Lightbox, which is registered with every optional property.
    let lightbox: String

    /// The limit of concurrent stages, because even an idle browser takes much memory.
    private static let door = Turnstile(places: ProcessInfo.processInfo.activeProcessorCount)

    /// Waits for a free place and runs `body` with a new stage.
    fileprivate static func run(_ body: (Stage) async throws -> Void) async throws {
        try await door.pass { try await setUp(body) }
    }

    private static func setUp(_ body: (Stage) async throws -> Void) async throws {
        try await Site.make(host: "localhost") { site in
            try await site.add(.alice)
            try await site.administer(
                ["user", "create", "grace", "--email", "grace@example.com", "--display-name", "Grace Grant"]
                    + ["--role", "owner", "--password-stdin"], typing: Account.grace.password + "\n")
            try await site.addScope("photos.read", "See your photos and albums")
            try await site.addScope("photos.write", "Add photos to your albums")
            let lightbox = try await site.addLightbox()
            // The mails go nowhere.
            let mail = ["--mail-program", "/bin/true", "--mail-sender", "id@example.com"]
            try await site.start(options: mail).whileRunning {
                try await Browser.run { browser in
                    // A suite takes long, so it gives its place back while its tests run, and each test
                    // takes a place of its own. Otherwise suites that hold all places and tests that wait
                    // for one would block each other.
                    await Turnstile.programs.leave()
                    let outcome = await Result(of: {
                        try await body(Stage(site: site, browser: browser, lightbox: lightbox))
                    })
                    await Turnstile.programs.enter()
                    try outcome.get()
                }
            }
        }
    }

    /// Runs a test on the stage of its suite, with a browser without cookies.
    ///
    /// If the test fails, the page of that moment is recorded.
    static func enter(_ body: (Stage) async throws -> Void) async throws {
        let stage = try #require(shared)
        try await Turnstile.programs.pass { try await stage.play(body) }
    }

    /// Returns the stage with another browser at the same server.
    func with(_ browser: Browser) -> Stage { Stage(site: site, browser: browser, lightbox: lightbox) }

    private func play(_ body: (Stage) async throws -> Void) async throws {
        try await browser.forget()
        try await browser.emulateScreen(width: 1280, height: 860)
        do { try await body(self) } catch {
            let address = (try? await browser.currentURL) ?? ""
            let text = (try? await browser.text) ?? ""
            Issue.record("at \(address):\n\(text)")
            throw error
        }
    }
}

/// A trait that gives the tests of a suite one ``Stage``.
struct OneStage: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await Stage.run { stage in
            try await Stage.$shared.withValue(stage) { try await function() }
        }
    }
}

extension Trait where Self == OneStage {
    /// One server and one browser for all tests of the suite, which must be serialized.
    static var oneStage: Self { Self() }
}

extension Account {
    /// An administrator of the server.
    static let grace = Account(name: "grace", fullName: "Grace Grant", password: "a lighthouse, two boats and fog")
}

extension Site {
    /// Runs an administration command and expects success.
    @discardableResult func administer(_ arguments: [String], typing input: String) async throws -> String {
        let ended = try await administer(arguments, input: input)
        guard ended.status == 0 else { throw Refused(description: "\(arguments.prefix(2)): \(ended.errors)") }
        return ended.output
    }

    /// Registers Lightbox with a logo, a consent text and links.
    fileprivate func addLightbox() async throws -> String {
        let picture = folder.url.appendingPathComponent("lightbox.png")
        try Drawing.lens.png().write(to: picture)
        let words = folder.url.appendingPathComponent("words.md")
        try Data(Self.words.utf8).write(to: words)
        return try await registerClient(
            scopes: ["openid", "photos.read", "photos.write"],
            options: [
                "--publisher", "Lightbox AS", "--optional-scope", "photos.write", "--logo", picture.path,
                "--consent-text", words.path, "--privacy-uri", "https://lightbox.example/privacy",
                "--terms-uri", "https://lightbox.example/terms",
            ])
    }

    private static let words = """
        Lightbox shows your photos **on this computer** and keeps a copy of the small versions.

        - Nothing goes to our own servers.
        - Ask us anything: [help@lightbox.example](mailto:help@lightbox.example)

        """
}

extension Result where Failure == any Error {
    /// Captures the result of a closure.
    fileprivate init(of body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
