import ArgumentParser
import CounterfoilServer

/// The argument that names an existing scope.
struct ScopeArgument: ParsableArguments {
    @Argument(help: "The name of the scope.")
    var name: String
}

extension ScopeArgument {
    /// The path of the scope in the administration API.
    var path: String { "/scopes/" + AdministrationOperation.segment(name) }

    var notFound: CommandFailure {
        .refused("there is no scope named \(DisplayName(name)); see: counterfoil-server scope list")
    }
}
