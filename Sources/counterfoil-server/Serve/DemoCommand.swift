import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilWeb
import Foundation

/// The command `demo`, which runs a server with sample data in a temporary directory.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Run a demo server with a sample user and app.",
        discussion: """
            The data is in a new directory, which is deleted when the server stops. The password is random and \
            printed. The server listens on this machine only. It accepts unregistered apps.

            Example:
              counterfoil-server demo
            """
    )

    @Option(name: .long, help: "The port to listen on.")
    var port = 8080

    func validate() throws {
        guard (1...65535).contains(port) else { throw ValidationError("--port must be a number from 1 to 65535.") }
    }

    func run() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(
            "counterfoil-demo-\(UUID().uuidString)"
        ).path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let issuer = try Issuer("http://localhost:\(port)")
        var settings = ServerSettings(issuer: issuer)
        settings.siteName = "Example Photos"
        let installation = try DataDirectory(at: path).installation
        let password = Base64URL.encode(RandomBytes().bytes(12))
        let clientID = try await fill(installation, password: password)
        await installation.store.close()
        let server = try await RunningServer(
            at: .directory(path), settings: settings,
            listeners: ListenOptions.Listeners(requests: [.host("localhost", port: port)]))
        try await server.run { _, _ in
            Output.note(
                """
                Counterfoil serves \(issuer) until you press Control-C.

                  user name:  alice
                  password:   \(password)
                  client_id:  \(clientID)

                Sign in from another terminal:
                  counterfoil login \(issuer) --client-id \(clientID) --scope "openid profile photos.read"

                The same with an unregistered app:
                  counterfoil login \(issuer) --scope "openid profile photos.read"
                """
            )
        }
    }

    private func fill(_ installation: Installation, password: String) async throws -> ClientIdentifier {
        guard let username = Username("alice"), let photos = Scope.Token("photos.read") else {
            throw CommandFailure.refused("cannot create the sample data")
        }
        let now = installation.store.now()
        let alice = Person(
            username: username,
            email: EmailAddress("alice@example.com"),
            displayName: "Alice Andersen",
            passwordHash: try await PasswordHasher().hash(Password(choosing: password, for: username)),
            isAdministrator: true,
            createdAt: now
        )
        let lightbox = RegisteredClient(
            id: ClientIdentifier(),
            type: .native,
            presentation: ClientPresentation(name: "Lightbox", publisher: "Lightbox AS"),
            redirectURIs: [try RedirectURI("http://127.0.0.1/callback")],
            scope: Scope([.openID, .profile, photos]),
            policy: ClientPolicy(isVouchedFor: true),
            createdAt: now
        )
        _ = try await installation.store.addPerson(alice, recording: [])
        _ = try await installation.store.addScope(
            ScopeDefinition(token: photos, description: "See your photos and albums", isListed: true),
            recording: [])
        _ = try await installation.store.addClient(lightbox)
        _ = try await installation.store.updateUnregisteredClientPolicy(
            UnregisteredClientPolicy(kinds: [.document, .registration]), recording: [])
        return lightbox.id
    }
}
