import ArgumentParser
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore

/// The options that `scope create` and `scope edit` share.
struct ScopeOptions: ParsableArguments {
    /// The help text of `--description`.
    ///
    /// The option itself is declared by the commands, because `scope create` requires it and `scope edit` does not.
    static let descriptionHelp = ArgumentHelp(
        "What the scope permits, shown on the consent page; 1 to 200 characters.", valueName: "text")

    @Flag(
        inversion: .prefixedNo,
        help: "Whether the server metadata lists it in scopes_supported. Scopes of OpenID Connect are always listed.")
    var listed: Bool?

    @Flag(
        inversion: .prefixedNo,
        help: "Whether its checkbox is initially ticked where it is optional. EU law does not accept that as consent.")
    var startsTicked: Bool?

    @Flag(
        inversion: .prefixedNo,
        help: "Whether only approved apps get it. Developers cannot add it; see: counterfoil-server app approve --help")
    var reserved: Bool?

    /// Whether any option is given.
    var hasChanges: Bool { [listed, startsTicked, reserved].contains { $0 != nil } }

    /// Replaces the values of the given options in a definition.
    func write(into scope: inout ScopeDefinition) {
        if let listed { scope.isListed = listed }
        if let startsTicked { scope.startsTicked = startsTicked }
        if let reserved { scope.isReserved = reserved }
    }

    /// Throws unless pages can show a description as it is.
    static func check(description: String) throws {
        guard DisplayName.isShownWhole(description, length: ScopeDefinition.descriptionLength) else {
            throw ValidationError("The description of a scope must be 1 to 200 visible characters on one line.")
        }
    }

    static func check(name: String) throws {
        guard Scope.Token(name) != nil else {
            throw ValidationError(
                "The name of a scope must be 1 to 255 visible ASCII characters, except spaces, \" and \\.")
        }
    }
}
