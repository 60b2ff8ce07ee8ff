import Foundation
import TestSupport
import Testing

/// The examples of a declared state: the guide, and the manifest for Kubernetes.
@Suite(.timeLimit(.minutes(10)))
struct ApplyExampleTests {
    private static let manifest = "Server/Packaging/kubernetes/declared-state.yaml"

    /// Applies a text twice; the second time, nothing is left to change.
    private static func apply(_ text: String) async throws {
        try await Site.make { site in
            let path = site.folder.path("state.yaml")
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            let applied = try await site.administer(["apply", path])
            #expect(applied.status == 0, "\(applied.errors)")
            #expect(!applied.errors.contains("the server has"), "\(applied.errors)")
            let again = try await site.administer(["apply", path, "--dry-run"])
            #expect(again.status == 0, "\(again.output)")
        }
    }

    @Test func `the file of the guide is applied, and then nothing is left to change`() async throws {
        let page = try GuidePage("docs/guide/declared-state.md")
        let file = try #require(page.blocks.first { $0.language == "yaml" })
        try await Self.apply(file.text)
    }

    @Test func `the state in the manifest for Kubernetes is applied, and then nothing is left to change`()
        async throws
    {
        let lines = try Repository.text(Self.manifest).components(separatedBy: "\n")
        let begin = try #require(lines.firstIndex { $0 == "  state.yaml: |" })
        let state = lines[(begin + 1)...].prefix { $0.hasPrefix("    ") }.map { $0.dropFirst(4) }
        #expect(state.count > 10)
        try await Self.apply(state.joined(separator: "\n") + "\n")
    }

    @Test func `the manifest for Kubernetes uses options, a Secret and a ConfigMap that exist`() async throws {
        let manifest = try Repository.text(Self.manifest)
        let servers = try Repository.text("Server/Packaging/kubernetes/counterfoil.yaml")
        let line = try #require(manifest.firstMatch(of: /args: \[(.+)\]/)).output.1
        let arguments = line.components(separatedBy: ", ")
        #expect(arguments.first == "apply")
        let help = try Repository.text("Server/Tests/ServerCommandTests/Help/counterfoil-server/apply.txt")
        for option in arguments + ["--dry-run"] where option.hasPrefix("--") {
            #expect(help.contains("  \(option)"), "\(option)")
        }
        // Each path is below a volume, and each volume is a ConfigMap of the manifests.
        for path in arguments where path.hasPrefix("/") {
            let folder = path.split(separator: "/").dropLast().joined(separator: "/")
            #expect(manifest.contains("mountPath: /\(folder), readOnly: true"), "\(path)")
        }
        for name in manifest.matches(of: /(?:configMap|secretRef): \{name: ([a-z-]+)\}/).map(\.output.1) {
            let isDeclared = (manifest + servers).contains("metadata:\n  name: \(name)\n")
            #expect(isDeclared, "\(name)")
        }
        #expect(servers.contains("secretRef: {name: counterfoil}"))
    }
}
