import ArgumentParser

/// The value of an option for scopes: one name, or several separated by spaces or commas.
///
/// `openid profile` is the form of the parameter `scope` (RFC 6749 §3.3), which people copy from other programs.
struct ScopeNames: ExpressibleByArgument {
    /// The names; one empty name if the value has none, because an empty value clears a list.
    let names: [String]

    init(argument: String) {
        let names = argument.split { $0 == " " || $0 == "," }.map(String.init)
        self.names = names.isEmpty ? [""] : names
    }
}

extension [ScopeNames] {
    /// The names of all values, in order.
    var names: [String] { flatMap(\.names) }
}
