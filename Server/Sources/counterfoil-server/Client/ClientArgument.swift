import ArgumentParser
import CounterfoilServer
import HTTPTypes

/// The argument that names a registered client.
struct ClientArgument: ParsableArguments {
    @Argument(help: "The client_id.")
    var clientID: String
}

extension ClientArgument {
    /// The path of the client in the administration API.
    var path: String { "/clients/" + AdministrationOperation.segment(clientID) }
}

extension AdministrationTransport {
    /// Reads a client that a person registered; fails the command if there is none.
    func client(_ argument: ClientArgument) async throws -> AdministrationRecord {
        try await record(of: argument, in: try await change(.get, argument.path))
    }

    /// Returns the client in an answer; fails the command if the path of the request names none.
    func record(
        of argument: ClientArgument, in answer: AdministrationResponse, options: [String: String] = [:]
    ) async throws -> AdministrationRecord {
        if answer.status == .notFound { throw try await failure(ofMissing: argument) }
        return try answer.record(options: options)
    }

    /// Reads a client; nil if there is none, or if the server cannot read its record.
    func readableClient(_ argument: ClientArgument) async throws -> AdministrationRecord? {
        do {
            let answer = try await change(.get, argument.path)
            return answer.status == .ok ? try AdministrationRecord(answer) : nil
        } catch let failure as CommandFailure where !failure.isTemporary { return nil }
    }

    /// Returns the failure of a command on a client that no person registered.
    func failure(ofMissing argument: ClientArgument) async throws -> CommandFailure {
        try await unregisteredClient(argument) == nil
            ? .noClient(argument.clientID) : .unregistered(argument.clientID)
    }

    /// Reads a client that no person registered; nil if there is none.
    func unregisteredClient(_ argument: ClientArgument) async throws -> AdministrationRecord? {
        try await record(at: argument.unregisteredPath)
    }
}

extension CommandFailure {
    static func unregistered(_ clientID: String) -> CommandFailure {
        .refused("the app \(EscapedText(clientID)) is unregistered; see: counterfoil-server unregistered --help")
    }

    static func noClient(_ clientID: String) -> CommandFailure {
        .refused(
            "there is no app with the client_id \(EscapedText(clientID, limit: 100)); see: counterfoil-server app list")
    }
}
