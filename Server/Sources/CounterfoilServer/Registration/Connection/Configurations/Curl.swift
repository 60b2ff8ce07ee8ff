import CounterfoilProtocol
import CounterfoilStore

extension ConfigurationRecipe {
    static let curl = ConfigurationRecipe("curl", "curl", file: "token.sh", for: [.service], namesAPIs: true) {
        connection -> ConfigurationText<Shell>? in
        guard connection.keys == nil, let endpoint = connection.url(of: .token) else { return nil }
        var parameters = connection.requestedResources.map { "resource=" + $0 }
        if !connection.scope.isEmpty { parameters.insert("scope=" + connection.scope.description, at: 0) }
        let lines = parameters.map { parameter -> ConfigurationText<Shell> in
            "    --data-urlencode \(parameter) \\\n"
        }
        return """
            # curl reads the secret from standard input, so that it is not in the list of processes.
            printf 'user = "%s:%s"\\n' \(connection.clientID.rawValue) "$CLIENT_SECRET" |
              curl --config - --fail-with-body --silent --show-error \\
                --data grant_type=client_credentials \\
            \(ConfigurationText(stringLiteral: lines.map(\.text).joined()))    \(endpoint)

            """
    }
}
