import ArgumentParser
import CounterfoilServer
import Foundation

/// `apply`: brings a server to the state that a file declares.
struct ApplyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply",
        abstract: "Bring apps, scopes, APIs, policies and roles to the state of a file.",
        discussion: """
            The file is YAML or JSON, with the lists scopes, apis, clients and users, and the mappings \
            unregistered_policy and branding. Their members are those of the administration API, and of --json. A \
            member that the file does not have keeps its value, and null clears it. What the file does not name is \
            left alone.

            The file is checked as a whole before the first change. A record that another administrator changes \
            meanwhile is refused and named. The command can be repeated: it continues where it stopped, and changes \
            nothing twice.

            Records below the member remove are removed only with --prune. A secret never is in the file: that of a \
            new app is written to --secrets-file, or added later with: app secret.

            With --dry-run, the exit code is 0 if the server is as the file declares it, and 1 if not.

            Examples:
              counterfoil-server apply state.yaml --dry-run --data-dir ./data
              counterfoil token | counterfoil-server apply state.yaml --token-file - \\
                --remote https://id.example.com
            """
    )

    @Argument(help: "The file with the declared state.")
    var file: String

    @Flag(name: .long, help: "Print the changes, and make none.")
    var dryRun = false

    @Flag(name: .long, help: "Remove the records that the file names below remove.")
    var prune = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A new file for the secrets of new apps and APIs, one JSON object on each line.", valueName: "path"))
    var secretsFile: String?

    @OptionGroup var options: OperationOptions

    func run() async throws {
        let declared = try DeclaredState(try await DeclaredFile(at: file))
        try await options.withServer(creating: !dryRun) { transport in
            let actual = try await ActualState(of: declared, by: transport)
            let plan = try ApplyPlan(declared, from: actual, removing: prune)
            if !options.json { Output.line(plan.words) }
            guard !dryRun else {
                if options.json { try Output.json(PlanDocument(plan, applied: 0)) }
                guard plan.changes.isEmpty else {
                    throw CommandFailure.found("the server differs from \(file); nothing was changed")
                }
                return
            }
            try await apply(plan, by: transport)
        }
    }

    private func apply(_ plan: ApplyPlan, by transport: any AdministrationTransport) async throws {
        // The file is created before the first change, so that no secret is lost.
        let secrets = plan.changes.contains(where: \.createsSecret) ? try secretsFile.map(SecretsFile.init) : nil
        defer { secrets?.removeIfEmpty() }
        var execution = PlanExecution(by: transport, keepingSecretsIn: secrets)
        do {
            try await execution.run(plan)
        } catch {
            if options.json { try Output.json(PlanDocument(plan, applied: execution.applied)) }
            throw error
        }
        if options.json { try Output.json(PlanDocument(plan, applied: execution.applied)) }
    }
}
