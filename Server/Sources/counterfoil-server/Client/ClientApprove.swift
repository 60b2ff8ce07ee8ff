import ArgumentParser
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore

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

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            guard let id = ClientIdentifier(argument.clientID), let client = try await installation.store.client(id)
            else { throw CommandFailure.noClient(argument.clientID) }
            guard client.documentHost == nil else {
                throw CommandFailure.refused("the policy for unregistered apps decides about an app with a document")
            }
            if let revision, revision != client.revision {
                throw CommandFailure.refused(
                    "the app \(id) has the revision \(client.revision) now; look at it again with app show \(id)")
            }
            try await installation.decide(
                .approve(revision: client.revision), on: argument, json: options.json, done: "Approved",
                otherwise: "is approved already")
            guard !options.json else { return }
            // The lines are those of the approved revision, even if the app is changed again already.
            var approved = client
            approved.approval = .approved
            Output.line(ClientDocument(ClientRecord(approved)).words)
            let scopes = try await installation.store.scopes()
            let reserved = scopes.filter { $0.isReserved && client.scope.contains($0.token) }.map(\.token.rawValue)
            if !reserved.isEmpty { Output.line("  reserved: \(reserved.joined(separator: " "))") }
        }
    }
}

extension Installation {
    /// Stores a decision about a client, and prints the result.
    ///
    /// - Parameters:
    ///   - decision: The decision.
    ///   - argument: The client, which can be unregistered.
    ///   - json: Whether to print the client as JSON.
    ///   - done: The verb of the line that is printed.
    ///   - isDecided: The predicate of the failure if the decision changes nothing.
    func decide(
        _ decision: ClientDecision, on argument: ClientArgument, json: Bool, done: String, otherwise isDecided: String
    ) async throws {
        let absent = CommandFailure.noClient(argument.clientID)
        guard let id = ClientIdentifier(argument.clientID) else { throw absent }
        switch try await clients.decide(decision, on: id) {
        case .decided: break
        case .alreadyDecided: throw CommandFailure.refused("the app \(id) \(isDecided)")
        case .changedMeanwhile: throw CommandFailure.temporary("the app was changed at the same time; try again")
        case .notFound: throw absent
        }
        let client = try await StoreFault.readable { () async throws(StoreFault) in try await store.client(id) }
        guard json, let client else {
            return Output.line("\(done) the app \(client.map { "\($0.displayName)" } ?? id.rawValue).")
        }
        try Output.json(ClientRecord(client))
    }
}
