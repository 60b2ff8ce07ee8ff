import Foundation

/// The computer of a person: `counterfoil`, a place for its tokens, and a browser that is chosen with `$BROWSER`.
///
/// The browser writes the address that it is started with to a file and ends, as a launcher does; whoever plays the person
/// goes there.
struct Device: Sendable {
    private let folder: TemporaryFolder
    /// The file with the certificate authorities that programs here trust; nil for those of the system.
    var certificateAuthorities: String?

    init(in parent: TemporaryFolder) throws {
        folder = try parent.makeFolder("device")
        let script = """
            #!/bin/sh
            # One line for each argument: the address must be one.
            for argument do printf '%s\\n' "$argument"; done >"$0.opening" && mv "$0.opening" "$0.opened"

            """
        try Data(script.utf8).write(to: URL(fileURLWithPath: browser))
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: browser)
    }

    /// The program of `$BROWSER`.
    var browser: String { folder.path("browser") }

    /// The home of the person, where programs keep what they know.
    var home: String { folder.url.path }

    /// Where the tokens are kept.
    var tokenFile: URL { URL(fileURLWithPath: folder.path("tokens")) }

    /// Runs `counterfoil` until it ends.
    func counterfoil(_ arguments: String...) async throws -> EndedProgram {
        try await start(arguments).ended()
    }

    /// Starts `counterfoil login`.
    func beginLogin(_ site: Site, clientID: String, _ options: String...) throws -> RunningProgram {
        let scope = options.contains("--scope") ? [] : ["--scope", "openid photos.read"]
        return try start(["login", site.issuer, "--client-id", clientID, "--timeout", "60"] + scope + options)
    }

    /// Waits for the arguments with which the browser is started.
    func browserArguments() async throws -> [String] {
        let file = browser + ".opened"
        let text = try await Waiting.until("the browser") { FileManager.default.contents(atPath: file) }
        try FileManager.default.removeItem(atPath: file)
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Waits for the address that the browser is started with.
    func openedAddress() async throws -> String {
        try await browserArguments().first ?? ""
    }

    /// Starts `counterfoil` with any command.
    func begin(_ arguments: String...) throws -> RunningProgram { try start(arguments) }

    /// Starts `counterfoil` with any command.
    func begin(_ arguments: [String]) throws -> RunningProgram { try start(arguments) }

    private func start(_ arguments: [String]) throws -> RunningProgram {
        var environment = [
            "HOME": folder.url.path, "BROWSER": browser, "COUNTERFOIL_STORE": "file:" + tokenFile.path,
        ]
        environment["SSL_CERT_FILE"] = certificateAuthorities
        return try RunningProgram(.client, arguments, environment: environment, in: folder)
    }
}
