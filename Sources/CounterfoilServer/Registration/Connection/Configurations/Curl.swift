import CounterfoilProtocol

extension ConfigurationRecipe {
    static let curl = ConfigurationRecipe("curl", "curl", file: "token.sh", for: [.service]) {
        connection -> ConfigurationText<Shell>? in
        guard connection.keys == nil, let endpoint = connection.url(of: .token) else { return nil }
        let scope: ConfigurationText<Shell> =
            connection.scope.isEmpty ? "" : "    --data-urlencode \("scope=" + connection.scope.description) \\\n"
        return """
            # curl reads the secret from standard input, so that it is not in the list of processes.
            printf 'user = "%s:%s"\\n' \(connection.clientID.rawValue) "$CLIENT_SECRET" |
              curl --config - --fail-with-body --silent --show-error \\
                --data grant_type=client_credentials \\
            \(scope)    \(endpoint)

            """
    }
}
