import Foundation
import Testing

/// axe-core, the checker of others, beside our own ``PageAudit``.
///
/// `script/bootstrap browser` puts it into the build folder; it is not part of this package.
enum Axe {
    /// Where the script is.
    static let file: URL = {
        var package = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { package.deleteLastPathComponent() }
        return package.appendingPathComponent(".build/axe/axe.min.js")
    }()

    /// Whether the script is there.
    static var isThere: Bool { FileManager.default.fileExists(atPath: file.path) }

    private static let source = try? String(contentsOf: file, encoding: .utf8)

    /// What axe-core finds on the page that is open by the rules of WCAG 2.2 A and AA: the rule and the elements of each.
    static func violations(in browser: Browser) async throws -> [String] {
        guard let source else { throw WebDriverError.notInstalled(file.path) }
        if try await browser.execute("return typeof axe") == "undefined" {
            _ = try await browser.execute(source)
        }
        let found = try await browser.execute(
            """
            const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
            return axe.run(document, { runOnly: { type: 'tag', values: tags }, resultTypes: ['violations'] })
              .then(result => result.violations.map(({ id, nodes }) => `${id}: ${nodes.map(n => n.target).join(', ')}`));
            """)
        return found.array?.compactMap(\.string) ?? ["axe-core did not run"]
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips with the reason where there is no axe-core; in CI, where it must be, the test runs and fails instead.
    static var axe: Self {
        .enabled("axe-core is not there; script/bootstrap browser gets it") {
            let inCI = ProcessInfo.processInfo.environment["CI"].map { !["", "0", "false"].contains($0) } ?? false
            return inCI || Axe.isThere
        }
    }
}
