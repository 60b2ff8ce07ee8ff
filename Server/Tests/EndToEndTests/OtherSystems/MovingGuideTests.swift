import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// The commands of the pages docs/guide/moving-*.md, word for word but for the host names and the port.
@Suite("The guides of moving", .timeLimit(.minutes(10)))
struct MovingGuideTests {
    /// A page for the clients of another system.
    struct Guide: Sendable, CustomTestStringConvertible {
        let vendor: String
        /// The host name of the server in the page.
        let host: String
        /// The path of the issuer in the page.
        var path = ""
        /// The scopes that the access token of the last command has.
        let scopes: [String]
        /// The one of them that reads photos.
        let readScope: String

        var testDescription: String { vendor }
    }

    private static let guides = [
        Guide(
            vendor: "fotoware", host: "photos.example.com", path: "/fotoweb", scopes: ["photos.read"],
            readScope: "photos.read"),
        Guide(
            vendor: "itwin", host: "ims.example.com", scopes: ["itwin-platform", "offline_access"],
            readScope: "itwin-platform"),
        Guide(
            vendor: "zoho", host: "accounts.example.com",
            scopes: ["PhotoLibrary.albums.READ", "PhotoLibrary.photos.READ"], readScope: "PhotoLibrary.photos.READ"),
    ]

    private static func readPage(_ name: String, _ replacements: [(word: String, by: String)]) throws -> [String] {
        try GuidePage("docs/guide/moving-\(name).md").commands(replacing: replacements)
    }

    /// Runs `body` with a port for the server, and a TLS proxy in front of it.
    private static func run(
        _ body: @escaping @Sendable (TemporaryDirectory, ReservedPort, TLSFront) async throws -> Void
    ) async throws {
        try await TemporaryDirectory.forPrograms { folder in
            let port = try ReservedPort()
            try await TLSFront.run(to: port.number, in: folder) { front in try await body(folder, port, front) }
        }
    }

    /// Starts the server with the first command of a page, and runs `body` after Alice has an account.
    private static func serving(
        _ command: String, in shell: GuideShell, _ body: () async throws -> Void
    ) async throws {
        let server = try shell.start(command)
        try await server.whileRunning {
            _ = try await server.said("that it listens") { $0.errors.contains("Counterfoil serves ") ? true : nil }
            let alice = Account.alice
            let created = try await RunningProgram(
                .server,
                [
                    "user", "create", alice.name, "--email", alice.email, "--password-stdin", "--data-dir",
                    shell.directory.path("data"),
                ], input: alice.password + "\n", in: shell.directory
            ).ended()
            try #require(created.status == 0, "\(created.errors)")
            try await body()
        }
    }

    /// Signs in with a command of a page; Alice allows the request.
    private static func signIn(_ command: String, in shell: GuideShell, on device: Device) async throws -> EndedProgram
    {
        let login = try shell.terminal(device.environment).start(command)
        return try await login.whileRunning {
            var browser = UserAgent(verifiesCertificates: false)
            _ = try await Account.alice.allow(try await device.openedAddress(), in: &browser)
            return try await login.ended()
        }
    }

    #if os(Linux)
        // The sample API reads no SSL_CERT_FILE, so it trusts the authority of the test by a library that is preloaded.
        @Test(arguments: guides)
        func `after the commands of the guide, a client signs in, calls the API, stays signed in and signs out`(
            guide: Guide
        ) async throws {
            try await Self.run { folder, port, front in
                let shell = try GuideShell(in: folder)
                let commands = try Self.readPage(
                    "from-\(guide.vendor)", [(guide.host, front.host), ("127.0.0.1:8080", "127.0.0.1:\(port.number)")])
                let login = try #require(commands.last)
                try #require(login.contains(" --vendor \(guide.vendor) "))
                try await Self.serving(commands[0], in: shell) {
                    for command in commands.dropFirst().dropLast() {
                        let ended = try await shell.run(command)
                        try #require(ended.status == 0, "\(command): \(ended.errors)")
                    }
                    var device = try Device(in: folder)
                    device.certificateAuthorities = front.authority
                    let signedIn = try await Self.signIn(login, in: shell, on: device)
                    try #require(signedIn.status == 0, "\(signedIn.errors)")
                    #expect(signedIn.output.hasPrefix("Signed in at https://\(front.host)\(guide.path)"))
                    #expect(!signedIn.errors.contains("did not grant"), "\(signedIn.errors)")
                    try await Self.use(device, guide, front, in: folder)
                }
            }
        }

        /// Calls the sample API before and after a refresh, and signs out.
        private static func use(
            _ device: Device, _ guide: Guide, _ front: TLSFront, in folder: TemporaryDirectory
        ) async throws {
            let issuer = "https://\(front.host)\(guide.path)"
            let json = try await device.counterfoil("token", "--json")
            let token = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
            #expect((token["scope"] as? String)?.split(separator: " ").map(String.init).sorted() == guide.scopes)

            let api = try RunningProgram(
                .photoLibrary,
                [
                    "serve", "--issuer", issuer, "--audience", issuer, "--read-scope", guide.readScope, "--listen",
                    "127.0.0.1:0",
                ], environment: try await SystemAuthorities.environment(front.authority, in: folder), in: folder)
            try await api.whileRunning {
                let address = try await api.said("where it listens") { program in
                    program.output.firstMatch(of: /listens on (http:\S+)\n/).map { String($0.output.1) }
                }
                let photos = try await device.counterfoil("call", "\(address)/photos")
                #expect(photos.status == 0, "\(photos.errors)")
                #expect(photos.output.contains("First snow on the ridge"))

                // git rejects the token, so the next command refreshes it.
                let host = address.dropFirst("http://".count)
                let erased = try await GuideShell(in: folder, environment: device.environment).run(
                    #"printf 'protocol=http\nhost=\#(host)\n\n' | counterfoil credential git erase"#)
                #expect(erased.status == 0, "\(erased.errors)")
                let again = try await device.counterfoil("call", "\(address)/photos")
                #expect(again.status == 0, "\(again.errors)")
                let fresh = try await device.counterfoil("token")
                #expect(fresh.status == 0)
                #expect(fresh.output != "\(token["access_token"] as? String ?? "")\n")

                let logout = try await device.counterfoil("logout")
                #expect(logout.output == "Signed out: the token was deleted here and revoked at the server.\n")
            }
            // After the advice of the vendor, a client would register what only the vendor wants.
            let doctor = try await device.counterfoil("doctor", front.host, "--vendor", guide.vendor)
            #expect(doctor.output.contains("so its metadata count, and not the profile"), "\(doctor.output)")
            #expect(!doctor.output.contains("Register a "), "\(doctor.output)")
        }
    #endif

    @Test func `SSL_CERT_FILE names the authority of a private server, as the guide says`() async throws {
        try await Self.run { folder, port, front in
            let shell = try GuideShell(in: folder)
            let commands = try Self.readPage(
                "here",
                [
                    ("/etc/ssl/example-authority.pem", front.authority),
                    ("https://id.example.com", "https://\(front.host)"),
                ])
            try #require(commands.count == 1)
            let server =
                "counterfoil-server serve --data-dir ./data --issuer https://\(front.host) "
                + "--listen 127.0.0.1:\(port.number) --trusted-proxy 127.0.0.1"
            try await Self.serving(server, in: shell) {
                let created = try await shell.run(
                    "counterfoil-server app create --type native --name Lightbox --client-id lightbox "
                        + "--redirect-uri http://127.0.0.1/callback --scope openid --data-dir ./data")
                try #require(created.status == 0, "\(created.errors)")
                let signedIn = try await Self.signIn(commands[0], in: shell, on: try Device(in: folder))
                #expect(signedIn.status == 0, "\(signedIn.errors)")
            }
        }
    }
}
