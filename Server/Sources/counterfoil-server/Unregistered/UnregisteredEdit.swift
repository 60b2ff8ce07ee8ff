import ArgumentParser
import HTTPTypes

struct UnregisteredEdit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change the policy for unregistered apps.",
        discussion: """
            Only the given options change. A list replaces the whole list, and an empty value clears: --maximum-scope \
            "" lets apps request every scope in the metadata. A change applies from the next request.

            Example:
              counterfoil-server unregistered edit --accept documents \\
                --allowed-host '*.example.com' --approvers administrators \\
                --data-dir ./data
            """
    )

    @OptionGroup var policy: UnregisteredPolicyOptions

    @OptionGroup var options: OperationOptions

    func run() async throws {
        // Not in validate(), so that the parser reports an unknown option first.
        guard policy.hasChanges else {
            throw ValidationError("Give at least one change. See: counterfoil-server unregistered edit --help")
        }
        try await options.withServer(creating: true) { server in
            let path = "/unregistered/policy"
            let former = try await server.change(.get, path).record()
            let changed = try await server.change(.patch, path, ifMatch: former.tag, policy.members)
                .record(options: UnregisteredPolicyOptions.options)
            try UnregisteredPolicyOutput(changed).print(json: options.json)
        }
    }
}
