import TestSupport
import Testing

/// The version of the server program, and its answer to an unknown command.
@Suite(.timeLimit(.minutes(10)))
struct HelpTests {
    @Test(arguments: [[], ["user"], ["app"], ["certificate"]])
    func `an unknown command is wrong usage, and named before its options`(group: [String]) async throws {
        try await TemporaryDirectory.forPrograms { folder in
            for options in [[], ["--data-dir", "data", "--nonsense"]] {
                let ended = try await RunningProgram(.server, group + ["bogus"] + options, in: folder).ended()
                #expect(ended.status == 64)
                #expect(ended.errors.hasPrefix("Error: Unexpected argument 'bogus'\n"), "\(ended.errors)")
            }
            let help = try await RunningProgram(.server, ["help"] + group, in: folder).ended()
            #expect(help.status == 0)
        }
    }

    @Test func `the version is one line`() async throws {
        try await TemporaryDirectory.forPrograms { folder in
            let ended = try await RunningProgram(.server, ["--version"], in: folder).ended()
            #expect(ended.status == 0)
            #expect(ended.output.wholeMatch(of: /\d+\.\d+\.\d+\n/) != nil)
        }
    }
}
