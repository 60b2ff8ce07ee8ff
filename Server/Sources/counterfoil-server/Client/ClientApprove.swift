import ArgumentParser
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes

struct ClientApprove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve",
        abstract: "Approve an app, as it is registered now.",
        discussion: """
            Every user can then sign in to the app, and it gets the reserved scopes for which it is registered. The \
            policy for unregistered apps still decides about an app that registered itself. A change by its \
            developer ends the approval. Look at the app before, with: app show CLIENT_ID --json. With the revision \
            that it prints, the approval is for nothing else.

            Example:
              counterfoil-server app approve CLIENT_ID --revision 3 --data-dir ./data
            """
    )

    @OptionGroup var argument: ClientArgument

    @Option(
        name: .long,
        help: ArgumentHelp("The revision of the app that you have looked at. (default: the current one)"))
    var revision: Int?

    @OptionGroup var options: OperationOptions

    func run() async throws {
        try await options.withServer { server in
            let former = try await seen(by: server)
            if let revision {
                guard let current = former.integer("revision") else {
                    throw CommandFailure.refused(
                        "--revision: the revision of an unregistered app is not known; leave the option out")
                }
                guard revision == current else {
                    throw CommandFailure.refused(
                        "the app \(ClientOutput(former).id) has the revision \(current) now; look at it again with app "
                            + "show \(ClientOutput(former).id)")
                }
            }
            guard former.text("approval") != ClientApproval.approved.rawValue else {
                throw CommandFailure.refused("the app \(ClientOutput(former).id) is approved already")
            }
            let answer = try await server.change(.post, argument.path + "/approve", ifMatch: former.tag)
            let client = try await server.record(of: argument, in: answer)
            if options.json { return try Output.json(client) }
            Output.line("Approved the app \(ClientOutput(client).title).")
            // The lines are those of the approved revision, even if the app is changed again already.
            Output.line(ClientOutput(former.integer("revision") == nil ? client : former.approved).words)
        }
    }

    /// Reads the app, whose version the approval is for.
    private func seen(by server: any AdministrationTransport) async throws -> AdministrationRecord {
        if let client = try await server.record(at: argument.path) { return client }
        guard let client = try await server.unregisteredClient(argument) else {
            throw CommandFailure.noClient(argument.clientID)
        }
        return client
    }
}

extension AdministrationRecord {
    /// The client after its approval.
    fileprivate var approved: AdministrationRecord {
        var members = members
        members["approval"] = .string(ClientApproval.approved.rawValue)
        return AdministrationRecord(members)
    }
}
