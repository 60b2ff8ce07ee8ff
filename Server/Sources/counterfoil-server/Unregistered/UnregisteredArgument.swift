import CounterfoilServer

extension ClientArgument {
    /// The path of an unregistered app in the administration API.
    var unregisteredPath: String { "/unregistered" + path }
}

extension AdministrationTransport {
    /// Returns the failure if an app is not unregistered: it is registered, or there is none.
    func notUnregistered(_ argument: ClientArgument) async throws -> CommandFailure {
        let id = EscapedText(argument.clientID)
        if try await record(at: argument.path) != nil {
            return .refused("the app \(id) is registered; see: counterfoil-server app show --help")
        }
        return .refused(
            "there is no unregistered app with the client_id \(id); see: counterfoil-server unregistered list")
    }
}
