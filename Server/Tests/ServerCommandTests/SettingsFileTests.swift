import Foundation
import TestSupport
import Testing

@testable import counterfoil_server

/// The settings file of the server, and what makes it invalid.
@Suite(.timeLimit(.minutes(10)))
struct SettingsFileTests {
    /// A settings file, and the error that it causes.
    struct Mistake: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let content: Data
        /// The error after the path of the file.
        let error: String

        init(_ name: String, _ content: String, _ error: String) {
            self.init(name, Data(content.utf8), error)
        }

        init(_ name: String, _ content: Data, _ error: String) {
            testDescription = name
            self.content = content
            self.error = error
        }
    }

    private static let start = "issuer: http://127.0.0.1:8080\nlisten: 127.0.0.1:8080\n"

    static let mistakes = [
        Mistake("nothing", "", ": the file is empty; write at least issuer and listen"),
        Mistake("blank lines", "\n \r\n", ": the file is empty; write at least issuer and listen"),
        Mistake("comments only", "# issuer: a\n", ": the setting issuer is missing"),
        Mistake("one setting", "issuer: http://127.0.0.1:8080\n", ": the setting listen is missing"),
        Mistake(
            "an unknown setting", start + "\nconection: 5\n",
            ", line 4: unknown setting conection; the nearest one is connections"
        ),
        Mistake(
            "underscores", start + "trusted_proxy: 10.0.0.1\n",
            ", line 3: unknown setting trusted_proxy; the nearest one is trusted-proxy"),
        Mistake(
            "a foreign setting", start + "colour: blue\n",
            ", line 3: unknown setting colour; counterfoil-server config schema lists all settings"),
        Mistake(
            "a setting twice", start + "# again\nissuer: x\n", ", line 4: issuer is set again; line 1 sets it, too"),
        Mistake("a tab", "issuer: a\n\tlisten: b\n", ", line 2: a tab; YAML is indented with spaces only"),
        Mistake("a list in place of a value", "\nissuer: [a, b]\n", ", line 2: issuer must be one value, not a list"),
        Mistake("a group in place of a value", "issuer:\n  url: b\n", ", line 2: issuer must be one value;"),
        Mistake(
            "no value", start + "log-format:\n", ", line 3: log-format has no value; write one, or delete the line"),
        Mistake(
            "a word in place of true", start + "require-dpop-nonce: yes\n",
            ", line 3: require-dpop-nonce must be true or false"),
        Mistake(
            "a word in place of a number", start + "connections: many\n",
            ", line 3: connections must be a number from 16 to 1000000"),
        Mistake(
            "a list in a list", start + "trusted-proxy:\n  - [10.0.0.1]\n",
            ", line 4: each element of trusted-proxy must be one value"),
        Mistake("a list of lists", start + "trusted-proxy:\n  - - 10.0.0.1\n", ", line 4: a list in a list;"),
        Mistake("a list alone", "- issuer\n", ", line 1: the file must have lines such as issuer: "),
        Mistake("text", "hello\n", ", line 1: the file must have lines such as issuer: "),
        Mistake("no YAML", "issuer: \"a\nlisten: b\n", ", line "),
        Mistake(
            "an anchor", "issuer: &a http://127.0.0.1:1\nlisten: *a\n", ", line 1: an anchor, an alias or a tag of YAML"
        ),
        Mistake(
            "aliases that grow", "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\n",
            ", line 1: an anchor, an alias or a tag of YAML"),
        Mistake(
            "a deep list", "issuer: " + String(repeating: "[", count: 5000) + "\n", ", line 1: more than 256 brackets"),
        Mistake(
            "a long line", "issuer: " + String(repeating: "a", count: 9000),
            ", line 1: the line is longer than 8192 bytes"),
        Mistake("a second document", start + "---\nissuer: b\n", ", line 3: a second document; a file has one"),
        Mistake("a byte order mark", "\u{FEFF}" + start, ", line 1: the file begins with a byte order mark;"),
        Mistake("Latin-1", Data(start.utf8) + Data([0x23, 0x20, 0xE9, 0x0A]), ", line 3: the line is not UTF-8 text;"),
        Mistake("a control character", start + "log-format: \u{7}text\n", ", line 3: a control character (U+7)"),
        Mistake(
            "a server key", start + "server-key: abcdef\n",
            ", line 3: server-key is no setting of the file, which must not"),
        Mistake(
            "a password", start + "database-password: x\n", ", line 3: database-password is no setting of the file,"),
        Mistake("another file", start + "config: b.yaml\n", ", line 3: config is no setting of the file;"),
        Mistake(
            "a value of the administration", start + "site-name: Photos\n",
            ", line 3: site-name is no setting of the file; set it at /admin/branding,"),
        Mistake(
            "an empty list of a required setting", "issuer: http://127.0.0.1:8080\nlisten: []\n",
            ", line 2: listen is an empty list; it must have at least one value"),
        // The validation of the options, with the place in the file.
        Mistake(
            "a wrong value", "issuer: http://127.0.0.1:8080\n\nlisten: here\n",
            ", line 3: listen here: must be HOST:PORT"),
        Mistake(
            "a wrong time", start + "code-lifetime: 1h\n",
            ", line 3: code-lifetime must be a time from 10s to 10m, a number"),
        Mistake(
            "no time", start + "session-lifetime: long\n",
            ", line 3: session-lifetime must be a time from 10m to 365d, a number with s, m, h, d or w."),
        Mistake(
            "a wrong choice", start + "registration: nobody\n",
            ", line 3: registration must be one of everyone, "),
        // The values are those of the operator, although they look like options.
        Mistake(
            "a value with the name of an option", start + "endpoint-alias: \"--issuer=/x\"\n",
            ", line 3: endpoint-alias --issuer=/x: \"--issuer\" is not one of authorization,"),
        Mistake(
            "a value that mentions an option",
            "issuer: https://id.example.com\nlisten: 127.0.0.1:1\n"
                + "callback-origin: see --issuer\n",
            ", line 3: callback-origin see --issuer: a callback origin is"),
        Mistake(
            "a path with the name of an option",
            "issuer: https://id.example.com\nlisten: 127.0.0.1:1\noutbound-ca: /none/--issuer/--listen.pem\n",
            ", line 3: outbound-ca: cannot read the file /none/--issuer/--listen.pem"),
        Mistake(
            "half of a pair", "issuer: https://id.example.com\nlisten: 127.0.0.1:1\n\ntls-certificate: a.pem\n",
            ", line 4: tls-certificate and tls-key require each other."),
        Mistake(
            "a setting without the one that it requires", start + "acme-terms-agreed: true\n",
            ", line 3: acme-terms-agreed requires acme-contact."),
        Mistake(
            "a setting without a flag that it requires",
            "issuer: https://id.example.com\nlisten: 127.0.0.1:1\nacme-contact: owner@example.com\n",
            ", line 3: acme-contact requires acme-terms-agreed: read the terms of service"),
        Mistake(
            "a password in a connection string", start + "database: postgresql://a:secret@h/n\n", ", line 3: database: "
        ),
    ]

    private static func check(
        _ content: Data, mode: Int = 0o644, in folder: TemporaryDirectory
    ) async throws -> EndedProgram {
        let path = folder.path("server.yaml")
        try content.write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return try await RunningProgram(
            .server, ["config", "check", "--config", path], environment: ["HOME": folder.url.path], in: folder
        ).ended()
    }

    @Test(arguments: mistakes)
    func `a mistake in the file is an error with its line`(mistake: Mistake) async throws {
        try await TemporaryDirectory.forPrograms { folder in
            let ended = try await Self.check(mistake.content, in: folder)
            #expect(ended.status == 3)
            #expect(ended.output.isEmpty)
            #expect(
                ended.errors.hasPrefix("counterfoil-server: \(folder.path("server.yaml"))\(mistake.error)"),
                "\(ended.errors)")
            #expect(!ended.errors.contains("secret@"))
        }
    }

    @Test func `a file that others can change, that is too large or that is no file is refused`() async throws {
        try await TemporaryDirectory.forPrograms { folder in
            let start = Data(Self.start.utf8)
            for mode in [0o664, 0o646] {
                let writable = try await Self.check(start, mode: mode, in: folder)
                #expect(writable.status == 3)
                #expect(writable.errors.contains("other users can change the settings file"))
            }
            if geteuid() == 0 {
                let foreign = folder.path("foreign.yaml")
                try start.write(to: URL(fileURLWithPath: foreign))
                #expect(chown(foreign, 65_534, 65_534) == 0)
                let ended = try await RunningProgram(.server, ["config", "check", "--config", foreign], in: folder)
                    .ended()
                #expect(ended.status == 3)
                #expect(ended.errors.contains("belongs to another user"))
            }
            let large = try await Self.check(start + Data(repeating: 0x0A, count: 300_000), in: folder)
            #expect(large.status == 3)
            #expect(large.errors.contains("is larger than 262144 bytes"))
            for (path, error) in [(folder.url.path, "is not a regular file"), (folder.path("none"), "No such file")] {
                let ended = try await RunningProgram(.server, ["config", "check", "--config", path], in: folder).ended()
                #expect(ended.status == 3)
                #expect(ended.errors.contains(error))
            }
        }
    }

    @Test(arguments: [
        "tls-certificate: FIFO\ntls-key: a.key", "tls-certificate: a.pem\ntls-key: FIFO",
        "acme-contact: owner@example.com\nacme-terms-agreed: true\nacme-root: FIFO",
        "acme-contact: owner@example.com\nacme-terms-agreed: true\nacme-eab-kid: kid-1\nacme-eab-key-file: FIFO",
        "outbound-ca: FIFO", "endings-journal: FIFO", "database: postgresql://a@h/n\nserver-key-file: FIFO",
    ])
    func `a FIFO in place of a file is refused, and blocks nothing`(lines: String) async throws {
        try await TemporaryDirectory.forPrograms { folder in
            let path = folder.path("fifo")
            #expect(mkfifo(path, 0o600) == 0)
            try Data(try TestAuthority().pem.utf8).write(to: URL(fileURLWithPath: folder.path("a.pem")))
            let place = lines.contains("database:") ? "" : "data-dir: \(folder.path("data"))\n"
            let files = lines.replacing("FIFO", with: path).replacing("a.pem", with: folder.path("a.pem"))
            let ended = try await Self.check(
                Data("issuer: https://id.example.com\nlisten: 127.0.0.1:1\n\(place)\(files)\n".utf8), in: folder)
            #expect(ended.status == 3)
            #expect(ended.errors.contains("\(path) is not a regular file"), "\(ended.errors)")
        }
    }

    @Test(arguments: [
        ("", true), ("trusted-proxy: 127.0.0.1\n", false),
        ("acme-contact: owner@example.com\nacme-terms-agreed: true\n", false),
    ])
    func `the check warns of plain HTTP for an https issuer, unless TLS is set`(
        lines: String, isWarning: Bool
    ) async throws {
        try await TemporaryDirectory.forPrograms { folder in
            let settings =
                "issuer: https://id.example.com\nlisten: 127.0.0.1:8443\ndata-dir: \(folder.path("data"))\n"
            let ended = try await Self.check(Data((settings + lines).utf8), in: folder)
            #expect(ended.status == 0, "\(ended.errors)")
            #expect(ended.output == "The settings in \(folder.path("server.yaml")) are valid.\n")
            let message = "warning: serving plain HTTP for an https issuer, and no proxy is trusted"
            #expect(
                ended.errors.hasPrefix("\(message) (listen 127.0.0.1:8443); set trusted-proxy") == isWarning,
                "\(ended.errors)")
            #expect(ended.errors.contains(message) == isWarning)
        }
    }

    @Test func `the check reads the files that settings name, and creates nothing`() async throws {
        try await TemporaryDirectory.forPrograms { folder in
            let directory = "data-dir: \(folder.path("data"))\n"
            let valid = try await Self.check(Data((Self.start + directory).utf8), in: folder)
            #expect(valid.status == 0)
            #expect(valid.output == "The settings in \(folder.path("server.yaml")) are valid.\n")
            #expect(!FileManager.default.fileExists(atPath: folder.path("data")))

            let tls = "issuer: https://localhost\nlisten: 127.0.0.1:1\ntls-key: a.key\ntls-certificate: a.pem\n"
            let missing = try await Self.check(Data((tls + directory).utf8), in: folder)
            #expect(missing.status == 3)
            #expect(missing.errors.contains("server.yaml, line 4: tls-certificate: cannot read the file a.pem"))

            let acme =
                "issuer: https://id.example.com\nlisten: 127.0.0.1:1\nacme-contact: owner@example.com\n"
                + "acme-terms-agreed: true\nacme-root: a.pem\n"
            let authority = try await Self.check(Data((acme + directory).utf8), in: folder)
            #expect(authority.status == 3)
            #expect(authority.errors.contains("server.yaml, line 5: acme-root: cannot read the file a.pem"))

            let journal = "endings-journal: \(folder.path("journal/endings"))\n"
            let unwritable = try await Self.check(Data((Self.start + journal + directory).utf8), in: folder)
            #expect(unwritable.status == 3)
            #expect(unwritable.errors.contains("line 3: endings-journal: cannot write to \(folder.path("journal")):"))
            try FileManager.default.createDirectory(atPath: folder.path("journal"), withIntermediateDirectories: false)
            #expect(try await Self.check(Data((Self.start + journal + directory).utf8), in: folder).status == 0)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("journal")).isEmpty)
        }
    }

    @Test(arguments: [
        ("database: postgresql://a@h/n", "COUNTERFOIL_DATA_DIR", "./other", "database"),
        ("data-dir: ./data", "COUNTERFOIL_DATABASE", "postgresql://a@h/n", "data-dir"),
    ])
    func `a store in the file and one of another kind in the environment are refused`(
        line: String, variable: String, value: String, setting: String
    ) async throws {
        try await TemporaryDirectory.forPrograms { folder in
            let path = folder.path("server.yaml")
            try Data((line + "\n").utf8).write(to: URL(fileURLWithPath: path))
            let list = ["scope", "list", "--config", path]
            let ended = try await RunningProgram(.server, list, environment: [variable: value], in: folder).ended()
            #expect(ended.status == 3)
            #expect(
                ended.errors.hasPrefix(
                    "counterfoil-server: \(path), line 1: \(setting) names a store, and \(variable) in the"),
                "\(ended.errors)")
            // An option replaces both.
            let named = try await RunningProgram(
                .server, list + ["--data-dir", folder.path("named")], environment: [variable: value], in: folder
            ).ended()
            #expect(named.errors.contains("no data directory found at \(folder.path("named"))"), "\(named.errors)")
        }
    }

    @Test(.enabled(if: geteuid() != 0, "root may write everywhere"))
    func `a journal that the user may not write is refused`() async throws {
        try await Site.make { site in
            let directory = site.folder.path("journal")
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o500])
            let ended = try await site.server([
                "serve", "--data-dir", site.dataDirectory, "--issuer", "http://127.0.0.1:\(site.port)", "--listen",
                "127.0.0.1:\(site.port)", "--endings-journal", directory + "/endings",
            ])
            #expect(ended.status == 3)
            #expect(ended.errors.contains("--endings-journal: the endings journal \(directory)/endings cannot be used"))
        }
    }

    @Test func `a journal whose path leads nowhere is refused by the check and by the server`() async throws {
        try await Site.make { site in
            let (file, folder) = (site.folder.path("file"), site.folder.path("folder"))
            try Data().write(to: URL(fileURLWithPath: file))
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            for (journal, reason) in [
                (site.folder.path("none/endings"), /No such file or directory/), (file + "/endings", /Not a directory/),
                (folder, /Is a directory|is not a regular file/),
            ] {
                for command in [["serve"], ["config", "check"]] {
                    let ended = try await site.server(
                        command + [
                            "--data-dir", site.dataDirectory, "--issuer", "http://127.0.0.1:\(site.port)", "--listen",
                            "127.0.0.1:\(site.port)", "--endings-journal", journal,
                        ])
                    #expect(ended.status == 3, "\(command) \(journal): \(ended.errors)")
                    #expect(ended.errors.contains("--endings-journal: "), "\(ended.errors)")
                    #expect(ended.errors.contains(reason), "\(ended.errors)")
                }
            }
        }
    }

    @Test func `the settings file of the packages is the standard one of their user only`() async throws {
        try await TemporaryDirectory.forPrograms { folder in
            let file = folder.path("server.yaml")
            func path(_ option: String? = nil, _ environment: [String: String] = [:], user: String) throws -> String? {
                try SettingSources.path(option, environment, user: user, packagedPath: file)
            }
            #expect(try path(user: "counterfoil") == nil, "there is no such file")
            try Data(Self.start.utf8).write(to: URL(fileURLWithPath: file))
            #expect(try path(user: "counterfoil") == file)
            #expect(try path(user: "ada") == nil)
            #expect(try path(user: "root") == nil)
            #expect(try path("/a", user: "counterfoil") == "/a")
            #expect(try path(nil, ["COUNTERFOIL_SERVER_CONFIG": "/b"], user: "counterfoil") == "/b")
        }
    }

    @Test func `an administration command takes the data directory from the file`() async throws {
        try await TemporaryDirectory.forPrograms { folder in
            let path = folder.path("server.yaml")
            try Data("data-dir: \(folder.path("data"))\naccess-token-lifetime: 5m\n".utf8)
                .write(to: URL(fileURLWithPath: path))
            let create = ["scope", "create", "photos.read", "--description", "See your photos", "--config", path]
            #expect(try await RunningProgram(.server, create, in: folder).ended().status == 0)
            #expect(FileManager.default.fileExists(atPath: folder.path("data/counterfoil.db")))
            let variable = ["COUNTERFOIL_SERVER_CONFIG": path]
            let listed = try await RunningProgram(.server, ["scope", "list"], environment: variable, in: folder).ended()
            #expect(listed.output.contains("photos.read"))
            // An option and a variable go before the file.
            let other = try await RunningProgram(
                .server, ["scope", "list"],
                environment: variable.merging(["COUNTERFOIL_DATA_DIR": folder.path("other")]) { $1 }, in: folder
            ).ended()
            #expect(other.errors.contains("no data directory found at \(folder.path("other"))"))
            // The help does not read the file.
            let help = try await RunningProgram(
                .server, ["scope", "list", "--help", "--config", "none.yaml"], in: folder
            ).ended()
            #expect(help.status == 0)
        }
    }
}
