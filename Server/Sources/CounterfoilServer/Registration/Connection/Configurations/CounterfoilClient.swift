import CounterfoilProtocol
import CounterfoilStore

extension ConfigurationRecipe {
    static let counterfoilSwift = ConfigurationRecipe(
        "counterfoil-swift", "CounterfoilClient (Swift)", file: "SignIn.swift", for: [.native], namesAPIs: true
    ) { connection -> ConfigurationText<SwiftCode>? in
        let options: [ConfigurationText<SwiftCode>] =
            connection.redirectURIs.sorted { $0.preference < $1.preference }
            .map { ".registered(\($0.rawValue))" }
        guard let first = options.first else { return nil }
        let others = options.dropFirst().map { "\n    .otherwise(\($0.text))" }.joined()
        let resources = connection.requestedResources.map { resource -> ConfigurationText<SwiftCode> in
            "\nsignIn.options.resources.append(try Resource(\(resource)))"
        }
        let types: ConfigurationText<SwiftCode> = resources.isEmpty ? "" : "\nimport CounterfoilProtocol"
        return """
            import CounterfoilClient\(types)

            var signIn = try NativeSignIn(
                issuer: \(connection.issuer.rawValue),
                clientID: \(connection.clientID.rawValue),
                scope: \(connection.scope.description))
            signIn.redirect = try \(first)\(ConfigurationText(stringLiteral: others))\
            \(ConfigurationText(stringLiteral: resources.map(\.text).joined()))
            let credentials = try await signIn.run()

            """
    }

    static let counterfoilLogin = ConfigurationRecipe(
        ReadyConfiguration.loginCommand, "counterfoil (command line)", file: "login.sh", for: [.native, .device],
        namesAPIs: true
    ) { connection -> ConfigurationText<Shell>? in
        guard let receiver = connection.loginReceiver else { return nil }
        let command: ConfigurationText<Shell> = "counterfoil login \(connection.issuer.rawValue)"
        var options: [ConfigurationText<Shell>] = ["--client-id \(connection.clientID.rawValue)", receiver]
        if !connection.scope.isEmpty { options.append("--scope \(connection.scope.description)") }
        options += connection.requestedResources.map { "--resource \($0)" }
        return options.reduce(command) { line, option in "\(line) \\\n  \(option)" }
    }
}

extension ClientConnection {
    /// The option of `counterfoil login` that says how the response arrives; nil if the client cannot use the command.
    ///
    /// A device gets its tokens without a redirect (RFC 8628).
    fileprivate var loginReceiver: ConfigurationText<Shell>? {
        if type == .device { return "--device" }
        return loopbackRedirectURI.map { "--redirect-uri \($0.rawValue)" }
    }
}

extension RedirectURI {
    /// The order in which an app tries its redirect URIs, the most trustworthy kind first (RFC 8252 §7).
    fileprivate var preference: Int {
        switch kind {
        case .https: 0
        case .privateUseScheme: 1
        case .loopback: 2
        }
    }
}
