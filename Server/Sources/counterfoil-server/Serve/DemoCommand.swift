import ArgumentParser
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import CounterfoilWeb
import Foundation
import HTTPListener

/// The command `demo`, which runs a server with sample data in a temporary directory.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Run a demo server with a sample user, app and API.",
        discussion: """
            The data is in a new directory, which is deleted when the server stops. The password is random and \
            printed. The server listens on this machine only. It accepts unregistered apps. The output says how to \
            sign in and how to call the sample API, photo-library.

            Example:
              counterfoil-server demo
            """
    )

    @Option(name: .long, help: "The port to listen on.")
    var port = 8080

    // Accepted as by every command, and not read.
    @Option(SettingsFileOption.hidden) var settingsFile: String?

    func validate() throws {
        guard (1...65535).contains(port) else { throw ValidationError("--port must be a number from 1 to 65535.") }
    }

    /// The URL of the sample API, ten ports from the server.
    private var api: String { "http://127.0.0.1:\(port <= 65525 ? port + 10 : port - 10)" }

    func run() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(
            "counterfoil-demo-\(UUID().uuidString)"
        ).path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let issuer = try Issuer("http://localhost:\(port)")
        var settings = ServerSettings(issuer: issuer)
        settings.siteName = "Example Photos"
        let installation = try await DataDirectory(at: path).installation
        let password = Base64URL.encode(RandomBytes().bytes(12))
        try await fill(installation, password: password)
        await installation.store.close()
        let server = try await RunningServer(
            at: .directory(path), settings: settings,
            listeners: ListenOptions.Listeners(requests: [.host("localhost", port: port)]))
        try await server.run { _, _ in
            Output.note(hints(issuer: issuer, password: password))
        }
    }

    /// The commands that lead from the running server to the first response of an API.
    private func hints(issuer: Issuer, password: String) -> String {
        """
        Counterfoil serves \(issuer) until you press Control-C.

          user name:  alice
          password:   \(password)
          client_id:  \(Self.clientID)

        Sign in from another terminal, and ask the server who signed in:
          counterfoil login \(issuer) --client-id \(Self.clientID) --scope "\(Self.scope)"
          counterfoil whoami

        Start the sample API in a third terminal:
          photo-library serve --issuer \(issuer) --audience \(api) --listen \(api.dropFirst("http://".count))

        Call it with the same sign-in:
          counterfoil call \(api)/photos

        Sign in with an app that is not registered:
          counterfoil login \(issuer) --scope "\(Self.scope)" --profile unregistered

        See the pages in a browser, as alice:
          \(issuer)/account  the apps that can use the account
          \(issuer)/apps     register an app
          \(issuer)/admin    administer the server
        """
    }

    private static let clientID = "lightbox"
    private static let scope = "openid profile offline_access photos.read"

    private func fill(_ installation: Installation, password: String) async throws {
        guard let username = Username("alice"), let photos = Scope.Token("photos.read"),
            let clientID = ClientIdentifier(Self.clientID), let apiID = RegisteredResource.newClientID()
        else {
            throw CommandFailure.refused("cannot create the sample data")
        }
        let now = installation.store.now()
        let (email, displayName) = (EmailAddress("alice@example.com"), "Alice Andersen")
        let chosen = try Password(
            choosing: password, for: username, email: email, displayName: displayName, host: nil)
        let alice = User(
            username: username,
            email: email,
            displayName: displayName,
            passwordHash: try await PasswordHasher().hash(chosen),
            role: .owner,
            createdAt: now
        )
        let lightbox = RegisteredClient(
            id: clientID,
            type: .native,
            presentation: ClientPresentation(name: "Lightbox", publisher: "Lightbox AS"),
            redirectURIs: [try RedirectURI("http://127.0.0.1/callback")],
            scope: try Scope(parsing: Self.scope),
            policy: ClientPolicy(isVouchedFor: true),
            createdAt: now
        )
        _ = try await installation.store.addUser(alice, recording: [])
        _ = try await installation.store.addScope(
            ScopeDefinition(token: photos, description: "See your photos and albums", isListed: true),
            recording: [])
        _ = try await installation.store.addClient(lightbox)
        // The sample API does not introspect, so the secret is not printed.
        let library = RegisteredResource(
            resource: try Resource(api), clientID: apiID, name: "Photo library", scope: Scope([photos]),
            secret: ArtefactDigest(of: ClientSecret()), createdAt: now)
        _ = try await installation.store.addResource(library, recording: [])
        _ = try await installation.store.updateUnregisteredClientPolicy(
            UnregisteredClientPolicy(kinds: [.document, .registration]), recording: [])
    }
}
