import ArgumentParser
import CounterfoilServer
import CounterfoilStore
import HTTPTypes

struct UnregisteredDeleteHost: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete-host",
        abstract: "Delete every unregistered app whose document is at a host.",
        discussion: """
            There is no confirmation, and the deletion cannot be undone. With --refuse, the policy also refuses the \
            host from now on. Suspended apps are kept, so that they stay suspended.

            Example:
              counterfoil-server unregistered delete-host app.example.com --refuse \\
                --data-dir ./data
            """
    )

    @Argument(help: "The name of the host.")
    var host: String

    @Flag(name: .long, help: "Also refuse the host from now on.")
    var refuse = false

    @OptionGroup var options: OperationOptions

    func validate() throws { try HostArgument.check(host) }

    func run() async throws {
        let path = "/unregistered/hosts/" + AdministrationOperation.segment(host) + (refuse ? "?refuse=true" : "")
        try await options.withServer { server in
            let deleted = try await server.change(.delete, path).record(options: ["refuse": "--refuse"])
            try await server.finishRemovals()
            if options.json { return try Output.json(deleted) }
            Output.line(
                "Deleted \(deleted.integer("deleted") ?? 0) apps of \(deleted.shown("host"))."
                    + (refuse ? " The host is refused from now on." : ""))
        }
    }
}

/// The rule for the name of a host in the command line.
enum HostArgument {
    static func check(_ host: String) throws {
        guard HostPattern(host)?.rawValue.hasPrefix("*") == false else {
            throw ValidationError("\(host) is not a host name, such as app.example.com.")
        }
    }
}
