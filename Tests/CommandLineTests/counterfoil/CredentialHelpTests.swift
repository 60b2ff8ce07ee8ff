import TestSupport
import Testing

/// Tests of the help of `counterfoil credential`.
@Suite(.timeLimit(.minutes(5)))
struct CredentialHelpTests {
    @Test(arguments: CredentialHelpTexts.expected.keys.sorted())
    func `the help of each credential helper is complete`(command: String) async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        let help = try await CommandLineTool.run(
            ["credential"] + (command.isEmpty ? [] : [command]) + ["--help"], home: home)
        #expect(help.status == 0)
        #expect(help.output == CredentialHelpTexts.expected[command])
    }
}
