import ArgumentParser
import CounterfoilClient

/// `counterfoil use` chooses the profile of commands without --profile.
struct Use: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "use",
        abstract: "Choose the profile of commands without --profile.",
        discussion: """
            The choice is stored in the configuration file. COUNTERFOIL_PROFILE takes precedence over it, and --profile \
            over both.

            Example:
              counterfoil use work

            \(ExitStatus.help)
            """
    )

    @Argument(
        help: ArgumentHelp("The profile name, as in counterfoil profiles.", valueName: "name"),
        transform: CommonOptions.profileName)
    var name: ProfileName

    @OptionGroup var storeOption: StoreOption

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let console = output.console
        try await console.run {
            try HomeDirectory.check()
            let file = ConfigurationFile.ofThisUser()
            let stored = try await storeOption.open(console).store.profiles().map(\.name)
            let known = Set(stored).union(try file.read().logins.keys)
            guard known.contains(name) else {
                let names = known.map(\.rawValue).sorted().joined(separator: ", ")
                throw Failure(
                    .usage,
                    "there is no profile \(name); "
                        + (known.isEmpty ? "run: counterfoil login --profile \(name)" : "the profiles are \(names)"))
            }
            try file.update { $0.defaultProfile = name }
            if output.json {
                try console.result(["default_profile": name.rawValue])
            } else {
                try console.result("The default profile is \(name).")
            }
        }
    }
}
