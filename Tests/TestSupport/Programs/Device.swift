package import Foundation

/// A user's computer with `counterfoil`, a token file, and a browser that `$BROWSER` names.
///
/// The browser program writes its URL to a file and exits. The test then opens the URL as the user.
package struct Device: Sendable {
    private let folder: TemporaryDirectory
    /// The certificate authority file that programs on this computer trust; nil for that of the system.
    package var certificateAuthorities: String?

    package init(in parent: TemporaryDirectory) throws {
        folder = try parent.makeFolder("device")
        let script = """
            #!/bin/sh
            # One line for each argument: the address must be one.
            for argument do printf '%s\\n' "$argument"; done >"$0.opening" && mv "$0.opening" "$0.opened"

            """
        try Data(script.utf8).write(to: URL(fileURLWithPath: browser))
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: browser)
    }

    /// The path of the `$BROWSER` program.
    package var browser: String { folder.path("browser") }

    /// The home directory of the user.
    package var home: String { folder.url.path }

    /// The file with the tokens.
    package var tokenFile: URL { URL(fileURLWithPath: folder.path("tokens")) }

    /// Runs `counterfoil` until it exits.
    package func counterfoil(_ arguments: String...) async throws -> EndedProgram {
        try await start(arguments).ended()
    }

    /// Starts `counterfoil login`.
    package func beginLogin(_ site: Site, clientID: String, _ options: String...) throws -> RunningProgram {
        let scope = options.contains("--scope") ? [] : ["--scope", "openid photos.read"]
        return try start(["login", site.issuer, "--client-id", clientID, "--timeout", "60"] + scope + options)
    }

    /// Waits for the arguments of the browser program.
    package func browserArguments() async throws -> [String] {
        let file = browser + ".opened"
        let text = try await Waiting.until("the browser") { FileManager.default.contents(atPath: file) }
        try FileManager.default.removeItem(atPath: file)
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Waits for the URL of the browser program.
    package func openedAddress() async throws -> String {
        try await browserArguments().first ?? ""
    }

    /// Starts a `counterfoil` command.
    package func begin(_ arguments: String...) throws -> RunningProgram { try start(arguments) }

    /// Starts a `counterfoil` command.
    package func begin(_ arguments: [String]) throws -> RunningProgram { try start(arguments) }

    /// The environment of the user's programs, in addition to `PATH`.
    package var environment: [String: String] {
        var environment = [
            "HOME": folder.url.path, "BROWSER": browser, "COUNTERFOIL_STORE": "file:" + tokenFile.path,
        ]
        environment["SSL_CERT_FILE"] = certificateAuthorities
        return environment
    }

    private func start(_ arguments: [String]) throws -> RunningProgram {
        try RunningProgram(.client, arguments, environment: environment, in: folder)
    }
}
