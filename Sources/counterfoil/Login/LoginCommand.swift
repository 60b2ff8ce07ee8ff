import CounterfoilClient
@_spi(Counterfoil) import CounterfoilProtocol

/// The `login` command that a message tells the user to run.
struct LoginCommand: CustomStringConvertible {
    /// The options of the command.
    var settings: LoginSettings
    private let profile: ProfileName

    init(_ settings: LoginSettings, profile: ProfileName) {
        self.settings = settings
        self.profile = profile
    }

    /// The command that repeats a sign-in, with the options in the configuration file if they are of the same server.
    init(repeating credentials: Credentials, profile: ProfileName, rememberedIn file: ConfigurationFile?) {
        let remembered = (try? file?.read())?.logins[profile]
        if let remembered,
            remembered.issuer == credentials.issuer.rawValue || remembered.vendor != nil
        {
            self.init(remembered, profile: profile)
            return
        }
        var settings = LoginSettings()
        settings.issuer = credentials.server?.host ?? credentials.issuer.rawValue
        settings.vendor = credentials.server?.profile.name
        if !credentials.isSelfRegistered { settings.clientID = credentials.clientID.rawValue }
        settings.scope = credentials.scope.isEmpty ? nil : [credentials.scope.description]
        settings.resource = credentials.resources.map(\.rawValue)
        settings.api = credentials.apiOrigins.map(\.rawValue).sorted()
        settings.dpop = credentials.proofKey != nil
        if credentials.isOfService { settings.grant = .clientCredentials }
        self.init(settings, profile: profile)
    }

    /// The command line, quoted for a shell, with the issuer first.
    var description: String {
        let profile = profile == .standard ? [] : ["--profile=\(profile)"]
        let words = settings.arguments + profile
        return (["counterfoil login"] + words.map(Self.quoted)).joined(separator: " ")
    }

    /// Quotes the value of an option, or a whole argument, unless a shell would not change it.
    private static func quoted(_ word: String) -> String {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard word.hasPrefix("--"), parts.count == 2 else { return word.isPlainInShell ? word : word.inSingleQuotes }
        return "\(parts[0]) \(quoted(String(parts[1])))"
    }
}

extension String {
    /// The text in single quotes, as one word of a shell.
    var inSingleQuotes: String {
        // A single quote ends the quoted text, so it is written outside of it.
        "'\(split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''"))'"
    }

    /// Whether a shell takes the text as one word without a change.
    fileprivate var isPlainInShell: Bool {
        !isEmpty && utf8.allSatisfy { $0.isLetterOrDigit || "-._/:@%+,".utf8.contains($0) }
    }
}
