import Foundation
import TestSupport
import Testing

/// The pages of an administrator of a server with a million users and 10,000 apps.
///
/// The test takes most of an hour, so it runs only if `COUNTERFOIL_FILL_STORE` names the program `fill-store`.
@Suite(
    .realBrowser, .oneStage, .serialized, .enabled("set COUNTERFOIL_FILL_STORE") { LargeStore.filler != nil },
    .timeLimit(.minutes(180)))
struct LargeStoreTests {
    private static let languages = ["en", "de", "nb", "fr", "es"]
    private static let widths = [390, 1280, 1920]

    @Test func `every page that an administrator reaches fits its screen, in every language`() async throws {
        try await Stage.enter { stage in
            let database = stage.site.folder.path("data/counterfoil.db")
            let filler = Process()
            filler.executableURL = URL(fileURLWithPath: try #require(LargeStore.filler))
            filler.arguments = ["--database", database] + LargeStore.records
            #expect(try await filler.ended() == 0)
            for language in Self.languages {
                try await stage.browser.forget()
                try await stage.browser.prefer(languages: language)
                try await stage.open("/admin", as: .grace)
                let pages = try await Self.walk(stage, in: language)
                #expect(pages > 50)
            }
        }
    }

    /// Checks one page of each kind that links lead to, at each width; returns their number.
    private static func walk(_ stage: Stage, in language: String) async throws -> Int {
        var (paths, kinds) = (["/admin", "/account", "/apps"], Set<String>())
        while let path = paths.popLast() {
            guard kinds.insert(kind(of: path)).inserted else { continue }
            try await stage.open(path)
            // A link to a file leaves the browser on the page before.
            guard try await stage.browser.currentURL.hasPrefix(stage.site.issuer + path.prefix { $0 != "?" }) else {
                continue
            }
            for width in widths {
                try await stage.browser.emulateScreen(width: width, height: 900)
                let findings = try await PageAudit.findings(in: stage.browser) + Axe.violations(in: stage.browser)
                #expect(findings == [], "\(path), \(language), \(width)")
                try await Screens.keep("\(kinds.count)-\(language)-\(width)", of: stage.browser)
            }
            paths += try await links(on: stage.browser)
        }
        return kinds.count
    }

    /// Returns the paths of the console to which the open page links, the first one last.
    private static func links(on browser: Browser) async throws -> [String] {
        let script = """
            return [...document.querySelectorAll('a[href]:not([download])')].filter(a => a.origin === location.origin)
              .map(a => a.pathname + a.search).filter(path => /^\\/(admin|apps|account)\\b/.test(path)).reverse();
            """
        return try await browser.execute(script).array?.compactMap(\.string) ?? []
    }

    /// Returns a path without identifiers and the values of its query.
    private static func kind(of path: String) -> String {
        let parts = path.split(separator: "?", maxSplits: 1)
        let segments = parts[0].split(separator: "/").map { $0.contains("_") || $0.contains("%") ? "…" : $0 }
        let names = (parts.dropFirst().first ?? "").split(separator: "&").map { $0.prefix { $0 != "=" } }
        return "\(segments.joined(separator: "/"))?\(Set(names).sorted().joined(separator: "&"))"
    }
}

/// The program that fills the store, and its options.
private enum LargeStore {
    static let filler = ProcessInfo.processInfo.environment["COUNTERFOIL_FILL_STORE"]
    static let records = ["--users", "1000000", "--clients", "10000"]
}

extension Process {
    /// Runs the program; returns its status when it has ended.
    fileprivate func ended() async throws -> Int32 {
        try await withCheckedThrowingContinuation { continuation in
            terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try run() } catch { continuation.resume(throwing: error) }
        }
    }
}
