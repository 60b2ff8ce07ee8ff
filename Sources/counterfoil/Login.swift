import ArgumentParser
import CounterfoilClient
import CounterfoilProtocol
import Foundation

/// `counterfoil login` signs a person in.
struct Login: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sign in through the system browser and keep the token.",
        discussion: """
            The address to open is always printed on standard error. The browser is the system's default, or the one of \
            $BROWSER. The answer arrives on a port of this device.

            Example:
              counterfoil login https://id.example.com --client-id lightbox --scope openid

            \(ExitStatus.help)
            """
    )

    /// What happens with the address.
    enum Browser: String, ExpressibleByArgument, CaseIterable {
        case open
        case print
    }

    @Argument(help: "The server, exactly as it names itself, such as https://id.example.com.")
    var issuer: String

    @Option(
        name: .customLong("client-id"), help: ArgumentHelp("The client as it is registered there.", valueName: "id"))
    var clientID: String

    @Option(help: ArgumentHelp("Permissions to ask for; may be repeated.", valueName: "scope"))
    var scope: [String] = []

    @Option(
        name: .customLong("redirect-uri"),
        help: ArgumentHelp(
            "The loopback redirect URI as it is registered; without a port any free one is taken. (default: \(LoopbackAddress.standard))",
            valueName: "uri"))
    var redirectURI: String?

    @Option(help: "Whether to open the browser, or only print the address.")
    var browser: Browser = .open

    @Option(help: ArgumentHelp("How long to wait for the answer.", valueName: "seconds"))
    var timeout = 300

    @Option(help: ArgumentHelp("Whom to suggest on the sign-in page.", valueName: "hint"))
    var loginHint: String?

    @Flag(
        name: .customLong("assume-pkce"),
        help: "Take a server whose metadata do not say that it does PKCE with S256; its documentation must.")
    var assumesPKCE = false

    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard (1...86400).contains(timeout) else {
            throw ValidationError("--timeout must be a number of seconds from 1 to 86400.")
        }
    }

    func run() async throws {
        let console = common.console
        try await console.run {
            // A store that cannot be used is found before the person is asked to sign in.
            let store = try common.openStore()
            _ = try await store.credentials(of: common.profile)

            let credentials = try await signIn().run { event in
                for line in Self.lines(for: event, timeout: timeout) { console.say(line) }
                console.detail(Self.detail(of: event))
            }
            try await store.save(credentials, as: common.profile)
            if common.json {
                try console.result(SignedIn(credentials, profile: common.profile))
            } else {
                let person = credentials.person.map { " as \($0.name ?? $0.email ?? $0.subject)" } ?? ""
                let expiry = credentials.expires.map { " The access token expires at \($0.formatted(.iso8601))." } ?? ""
                console.result("Signed in at \(credentials.issuer)\(person).\(expiry)")
            }
        }
    }

    private func signIn() throws -> NativeSignIn {
        var signIn = try NativeSignIn(issuer: issuer, clientID: clientID, scope: scope.joined(separator: " "))
        if let redirectURI {
            do { signIn.redirect = try .registered(redirectURI) } catch { throw Failure(.usage, "\(error)") }
        }
        signIn.options.loginHint = loginHint
        signIn.timeout = .seconds(timeout)
        signIn.skippingPKCEMetadataCheck = assumesPKCE
        if browser == .print { signIn.browser = NoBrowser() }
        return signIn
    }

    private static func lines(for event: NativeSignIn.Event, timeout: Int) -> [String] {
        switch event {
        case .opening(let url):
            ["Open: \(url)", "Waiting \(timeout) s for your answer in the browser; Control-C stops."]
        case .browser(.failed(let reason)): ["The browser could not be opened (\(reason)); open the address by hand."]
        case .browser, .discovered, .answered, .exchanged: []
        }
    }

    private static func detail(of event: NativeSignIn.Event) -> String {
        switch event {
        case .discovered(let server): "the metadata of \(server.issuer) are sound; codes go to \(server.tokenEndpoint)"
        case .opening: "the port for the answer is open"
        case .browser(.launched): "the browser was started"
        case .browser(.notAttempted): "no browser was started"
        case .browser(.failed(let reason)): "no browser was started: \(reason)"
        case .answered: "the answer is there; its code goes to the token endpoint"
        case .exchanged: "the tokens are there and verified"
        }
    }
}

/// What a sign-in gave, for machines, without its token.
private struct SignedIn: Encodable {
    let profile: String
    let issuer: String
    let client_id: String
    let scope: String
    let subject: String?
    let expires_at: Date?

    init(_ credentials: Credentials, profile: ProfileName) {
        self.profile = profile.rawValue
        issuer = credentials.issuer.rawValue
        client_id = credentials.clientID.rawValue
        scope = credentials.scope.description
        subject = credentials.person?.subject
        expires_at = credentials.expires
    }
}
