import Foundation
import TestSupport
import Testing

/// The accessibility checker axe-core, in addition to ``PageAudit``.
///
/// `script/bootstrap browser` installs it in the build folder; it is not part of the repository.
enum Axe {
    /// The location of the axe-core script.
    static let file = Repository.root.appendingPathComponent(".build/axe/axe.min.js")

    /// Whether the axe-core script is installed.
    static var isThere: Bool { FileManager.default.fileExists(atPath: file.path) }

    private static let source = try? String(contentsOf: file, encoding: .utf8)

    /// Checks the open page against WCAG 2.2 A and AA; each violation has its rule and its elements.
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
    /// Skips the test with a reason if axe-core is missing; in CI the test runs and fails instead.
    static var axe: Self {
        .enabled("axe-core is not there; script/bootstrap browser gets it") {
            let inCI = ProcessInfo.processInfo.environment["CI"].map { !["", "0", "false"].contains($0) } ?? false
            return inCI || Axe.isThere
        }
    }
}
