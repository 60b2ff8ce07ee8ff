import ArgumentParser
import CounterfoilProtocol
import CounterfoilServer
import HTTPTypes

/// The argument that names a registered API.
struct ResourceArgument: ParsableArguments {
    @Argument(help: "The URI of the API.")
    var uri: String
}

extension ResourceArgument {
    var notFound: CommandFailure {
        .refused("there is no API with the URI \(EscapedText(uri)); see: counterfoil-server resource list")
    }
}

extension AdministrationTransport {
    /// Reads an API; fails the command if there is none.
    func api(_ argument: ResourceArgument) async throws -> (path: String, record: AdministrationRecord) {
        guard let uri = try? Resource(argument.uri), let path = try await apiPaths()[uri] else {
            throw argument.notFound
        }
        return (path, try await change(.get, path).record(missing: argument.notFound))
    }
}
