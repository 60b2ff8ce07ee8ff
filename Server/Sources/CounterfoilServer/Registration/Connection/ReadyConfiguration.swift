import CounterfoilStore

/// A configuration or a piece of code that connects a client to this server with a widely used library.
///
/// The text contains no secret. Where a library needs one, the text names the environment variable that holds it.
package struct ReadyConfiguration: Sendable, Hashable {
    /// The name in the option `--configuration` and in JSON, such as `spring`.
    package let name: String
    /// The name of the library.
    package let product: String
    /// The file that the text is for, such as `src/main/resources/application.yml`.
    package let file: String
    package let text: String

    /// The ``name`` of the `counterfoil login` command.
    package static let loginCommand = "counterfoil-login"

    /// The names of all configurations, in the order of the table.
    package static let names = ConfigurationRecipe.all.map(\.name).reduce(into: [String]()) { names, name in
        if !names.contains(name) { names.append(name) }
    }

    /// Returns the configurations that suit a client, in the order of the table.
    package static func all(for connection: ClientConnection) -> [ReadyConfiguration] {
        ConfigurationRecipe.all.compactMap { $0.configuration(for: connection) }
    }
}

/// A row of the table of ready configurations.
package struct ConfigurationRecipe: Sendable {
    let name: String
    let product: String
    let file: String
    /// The client types that the library is for.
    let types: Set<ClientType>
    /// Returns the text; nil if the library cannot be used with the registration.
    let text: @Sendable (ClientConnection) -> String?

    /// Creates a row of the table.
    ///
    /// - Parameters:
    ///   - name: The name in the option `--configuration`.
    ///   - product: The name of the library.
    ///   - file: The file that the text is for.
    ///   - types: The client types that the library is for.
    ///   - namesAPIs: Whether the text contains ``ClientConnection/requestedResources``; if not, a comment names them.
    ///   - text: The text; nil if the library cannot be used with the registration.
    init<Syntax>(
        _ name: String, _ product: String, file: String, for types: Set<ClientType>, namesAPIs: Bool = false,
        _ text: @escaping @Sendable (ClientConnection) -> ConfigurationText<Syntax>?
    ) {
        self.name = name
        self.product = product
        self.file = file
        self.types = types
        self.text = { connection in
            guard let made = text(connection) else { return nil }
            let note = namesAPIs ? nil : ConfigurationText<Syntax>.resourceNote(of: connection)
            return ConfigurationText<Syntax>(lines: [note, made]).text
        }
    }

    /// The table, to which a file in `Configurations` adds a line.
    static let all: [ConfigurationRecipe] = [
        // Single-page apps.
        .browserPage, .oidcClientTS,
        // Web applications and services.
        .spring, .springService, .authlib, .expressOpenIDConnect, .openIDClient, .openIDClientService, .oauth2Proxy,
        .modAuthOpenIDC, .curl,
        // Native apps.
        .counterfoilSwift, .counterfoilLogin, .appAuthIOS, .appAuthAndroid, .authlibNative, .goOAuth2, .dotNet,
        .kubelogin,
    ]

    func configuration(for connection: ClientConnection) -> ReadyConfiguration? {
        guard types.contains(connection.type), let text = text(connection) else { return nil }
        return ReadyConfiguration(name: name, product: product, file: file, text: text)
    }
}

extension ConfigurationText {
    /// The comment for a library that sends the parameter `resource` at most once (RFC 8707 §2.1); nil if a request for
    /// the scope of the client needs none.
    fileprivate static func resourceNote(of connection: ClientConnection) -> ConfigurationText? {
        let resources = connection.requestedResources
        guard !resources.isEmpty else { return nil }
        let lines =
            [
                "The scopes belong to several APIs. Request the scopes of one API at a time, or add the parameter",
                "resource to the request, once for each of:",
            ] + resources.map { "  \($0)" }
        return ConfigurationText(stringLiteral: lines.map { "\(Syntax.comment) \($0)" }.joined(separator: "\n"))
    }
}
