import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct HelpFileTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Help")

    @Test(arguments: HelpFile.all(of: .client, in: folder))
    func `the help of a command of the client is that of its file`(file: HelpFile) async throws {
        let (expected, help) = try await file.texts()
        #expect(help == expected)
    }

    @Test func `every command has a file with its help, and every file has a command`() async throws {
        let differences = try await HelpFile.differences(of: .client, in: Self.folder)
        #expect(differences.names == [] && differences.count > 10)
    }
}
