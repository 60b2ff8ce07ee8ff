import ArgumentParser
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore

struct ClientApprove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve",
        abstract: "Approve an app, as it is registered now.",
        discussion: """
            Every user can then sign in to the app, and it gets the reserved scopes for which it is registered. A \
            change by its developer ends the approval. Look at the app before, with: app show CLIENT_ID.

            Example:
              counterfoil-server app approve CLIENT_ID --data-dir ./data
            """
    )

    @OptionGroup var argument: ClientArgument

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            guard let id = ClientIdentifier(argument.clientID), let client = try await installation.store.client(id)
            else { throw CommandFailure.noClient(argument.clientID) }
            try await installation.decide(
                .approve(revision: client.revision), on: argument, recording: "approved", json: options.json,
                done: "Approved", otherwise: "is approved already")
        }
    }
}

extension Installation {
    /// Stores a decision about a client, and prints the result.
    ///
    /// - Parameters:
    ///   - decision: The decision.
    ///   - argument: The client, which can be unregistered.
    ///   - detail: The detail of the audit event.
    ///   - json: Whether to print the client as JSON.
    ///   - done: The verb of the line that is printed.
    ///   - isDecided: The predicate of the failure if the decision changes nothing.
    func decide(
        _ decision: ClientDecision, on argument: ClientArgument, recording detail: String, json: Bool, done: String,
        otherwise isDecided: String
    ) async throws {
        let absent = CommandFailure.noClient(argument.clientID)
        guard let id = ClientIdentifier(argument.clientID) else { throw absent }
        let event = event(.client, client: id, detail: detail)
        switch try await store.decide(decision, on: id, at: store.now(), recording: [event]) {
        case .decided: break
        case .alreadyDecided: throw CommandFailure.refused("the app \(id) \(isDecided)")
        case .changedMeanwhile: throw CommandFailure.temporary("the app was changed at the same time; try again")
        case .notFound: throw absent
        }
        let client = try await StoreFault.readable { () async throws(StoreFault) in try await store.client(id) }
        guard json, let client else {
            return Output.line("\(done) the app \(client.map { "\($0.displayName)" } ?? id.rawValue).")
        }
        try Output.json(ClientDocument(client))
    }
}
