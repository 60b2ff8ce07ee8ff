import Testing

/// The help of the server's program, whole.
@Suite(.timeLimit(.minutes(2)))
struct HelpTests {
    @Test(arguments: HelpText.all)
    func `the help of a command reads as it should`(help: HelpText) async throws {
        try await TemporaryFolder.run { folder in
            let ended = try await RunningProgram(
                .server, help.command + ["--help"], environment: ["COLUMNS": "80"], in: folder
            ).ended()
            #expect(ended.status == 0)
            #expect(ended.errors.isEmpty)
            #expect(ended.output == help.text)
        }
    }

    @Test func `every command has an example in its help, and a command that is none is wrong usage`() async throws {
        for help in HelpText.all where help.runs {
            #expect(help.text.contains("Example:\n"), "\(help.command)")
        }
        try await TemporaryFolder.run { folder in
            let ended = try await RunningProgram(.server, ["bogus"], in: folder).ended()
            #expect(ended.status == 64)
            #expect(ended.errors.contains("bogus"))
        }
    }
}
