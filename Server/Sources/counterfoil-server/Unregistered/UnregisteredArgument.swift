import CounterfoilServer
import HTTPTypes

extension ClientArgument {
    /// The path of an unregistered app in the administration API.
    var unregisteredPath: String { "/unregistered/clients/" + AdministrationOperation.segment(clientID) }
}

extension AdministrationTransport {
    /// Returns the failure if an app is not unregistered: it is registered, or there is none.
    func notUnregistered(_ argument: ClientArgument) async throws -> CommandFailure {
        let id = EscapedText(argument.clientID)
        let path = "/clients/" + AdministrationOperation.segment(argument.clientID)
        if try await record(at: path) != nil {
            return .refused("the app \(id) is registered; see: counterfoil-server app show --help")
        }
        return .refused(
            "there is no unregistered app with the client_id \(id); see: counterfoil-server unregistered list")
    }
}
