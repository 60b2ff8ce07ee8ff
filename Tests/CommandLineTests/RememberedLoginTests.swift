import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// Tests of the configuration file: remembered options of `login`, and the default profile.
@Suite(.timeLimit(.minutes(5)))
struct RememberedLoginTests {
    private static func file(in home: URL) -> URL { home.appending(path: ".config/counterfoil/config.json") }

    private static func write(_ text: String, to file: URL) throws {
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    @Test func `a second sign-in with a profile needs no other option`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run(ServerScript(.noPushedRequests)) { server in
            let first = try await CommandLineTool.login(
                [
                    server.issuer.rawValue, "--profile", "work", "--browser", "print", "--scope", "openid email",
                    "--parameter", "audience=photos", "--login-hint", "alice", "--prompt", "login", "--device-name",
                    "Kitchen tablet",
                    "--trusted-audience", "photos", "--par", "never", "--api", "https://photos.example.com",
                ], home: home)
            #expect(first.status == 0, "\(first.errors)")
            #expect(!first.errors.contains("Using the options"))
            let file = Self.file(in: home)
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            let remembered = try Data(contentsOf: file)
            let content = try #require(try JSONSerialization.jsonObject(with: remembered) as? [String: Any])
            let login = (content["profiles"] as? [String: [String: [String: Any]]])?["work"]?["login"]
            #expect(
                login?.keys.sorted() == [
                    "api", "browser", "client-id", "device-name", "issuer", "login-hint", "par", "parameter", "scope",
                    "trusted-audience",
                ])

            let second = try await CommandLineTool.login(["--profile", "work"], client: nil, home: home)
            #expect(second.status == 0, "\(second.errors)")
            #expect(second.errors.contains("Using the options of the profile work in \(file.path).\n"))
            #expect(try Data(contentsOf: file) == remembered, "each option is used again")
            // The others check the client before the browser opens.
            let requests = server.requests(to: .authorization).filter { $0.query["prompt"] != "none" }
            try #require(requests.count == 2)
            for name in ["client_id", "scope", "audience", "login_hint", "device_name"] {
                #expect(requests[0].query[name] == requests[1].query[name])
                #expect(requests[0].query[name] != nil)
            }
            // It asks the server for something at this sign-in only.
            #expect(requests[0].query["prompt"] == "login")
            #expect(requests[1].query["prompt"] == nil)

            let changed = try await CommandLineTool.login(
                ["--profile", "work", "--scope", "openid"], client: nil, home: home)
            #expect(changed.status == 0, "\(changed.errors)")
            #expect(server.requests(to: .authorization).last?.query["scope"] == "openid")
            #expect(server.requests(to: .authorization).last?.query["audience"] == "photos")

            // A command line that names a server uses nothing else of the file.
            let anew = try await CommandLineTool.signIn(at: server, home: home, "--profile", "work")
            #expect(anew.status == 0, "\(anew.errors)")
            #expect(server.requests(to: .authorization).last?.query["audience"] == nil)
            let other = try await CommandLineTool.login(["--profile", "other"], client: nil, home: home)
            #expect(other.status == 64)
            #expect(other.errors.contains("name the server"))
        }
    }

    @Test func `the file contains no secret, and one secret takes the place of another`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        var script = ServerScript()
        script.clients.authentication = .basic
        try await ScriptedAuthorizationServer.run(script) { server in
            let secret = directory.file("secret")
            try Data(server.script.clients.secret.utf8).write(to: secret)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secret.path)
            let login = try await CommandLineTool.signIn(at: server, home: home, "--client-secret-file", secret.path)
            #expect(login.status == 0, "\(login.errors)")
            let text = try String(contentsOf: Self.file(in: home), encoding: .utf8)
            #expect(text.contains("\"client-secret-file\" : \"\(secret.path)\""))
            for value in server.secrets.union([server.script.clients.secret]) { #expect(!text.contains(value)) }
            #expect(try await CommandLineTool.login([], client: nil, home: home).status == 0)

            try FileManager.default.removeItem(at: secret)
            let missing = try await CommandLineTool.login([], client: nil, home: home)
            #expect(missing.status == 64)
            #expect(missing.errors.contains("the file \(secret.path) does not exist"))
            let input = try InputPipe()
            input.write(server.script.clients.secret)
            let piped = try await CommandLineTool.login(
                ["--client-secret-stdin"], client: nil, home: home, input: input.readingEnd)
            #expect(piped.status == 0, "\(piped.errors)")
            let after = try String(contentsOf: Self.file(in: home), encoding: .utf8)
            #expect(!after.contains("client-secret"))
        }
    }

    @Test func `a sign-in in memory is not remembered, and one that cannot be remembered succeeds`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            let memory = try await CommandLineTool.signIn(at: server, home: home, "--store", "memory")
            #expect(memory.status == 0, "\(memory.errors)")
            #expect(!FileManager.default.fileExists(atPath: Self.file(in: home).path))

            let blocked = directory.file("blocked")
            try Data().write(to: blocked)
            let login = try await CommandLineTool.signIn(
                at: server, home: home, environment: ["COUNTERFOIL_CONFIG": "\(blocked.path)/config.json"])
            #expect(login.status == 0, "\(login.errors)")
            #expect(login.errors.contains("The options were not stored for the next sign-in: the configuration file"))
        }
    }

    @Test func `a configuration file that others can change is refused`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        let file = Self.file(in: home)
        try Self.write(#"{"default_profile":"work"}"#, to: file)
        for mode in [0o666, 0o620] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
            let login = try await CommandLineTool.run(["login"], home: home)
            #expect(login.status == 5)
            #expect(
                login.errors
                    == "Error: the configuration file \(file.path) can be changed by other users; run: chmod go-w \(file.path)\n"
            )
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
        let status = try await CommandLineTool.run(["status"], home: home)
        #expect(status.errors.contains("under the profile work"))
    }

    @Test(arguments: [
        ("[]", "it is not a JSON object"),
        (#"{"default_profile":"a","default_profile":"b"}"#, "contains a member twice"),
        (#"{"default_profile":7}"#, "default_profile must be a string"),
        (#"{"default_profile":"a b"}"#, "the profile name 'a b' must consist of"),
        (#"{"colour":"blue"}"#, "colour is unknown; the file has the members default_profile and profiles"),
        (#"{"profiles":[]}"#, "profiles must be an object"),
        (#"{"profiles":{"work":{"token":"x"}}}"#, "profiles.work.token is unknown; a profile has the object login"),
        (#"{"profiles":{"work":{"login":{"isuer":"x"}}}}"#, "profiles.work.login.isuer is not an option of login"),
        (#"{"profiles":{"work":{"login":{"dpop":"yes"}}}}"#, "profiles.work.login.dpop must be true or false"),
        (#"{"profiles":{"work":{"login":{"scope":[1]}}}}"#, "profiles.work.login.scope must be a list of strings"),
        (#"{"profiles":{"work":{"login":{"issuer":7}}}}"#, "profiles.work.login.issuer must be a string"),
        (#"{"profiles":{"work":{"login":{"issuer":"--json"}}}}"#, "the issuer cannot be used"),
        (#"{"profiles":{"work":{"login":[]}}}"#, "profiles.work.login must be an object"),
        (
            #"{"profiles":{"work":{"login":{"issuer":"https://id.example.com","grant":"password"}}}}"#,
            "profiles.work.login.grant has a value that login does not know"
        ),
        (
            #"{"profiles":{"work":{"login":{"issuer":"https://id.example.com","parameter":["--scope"]}}}}"#,
            "--parameter must have the form name=value; it is '--scope'."
        ),
    ])
    func `a fault of the configuration file is named with its place`(text: String, words: String) async throws {
        let directory = try TemporaryDirectory()
        let file = Self.file(in: directory.url)
        try Self.write(text, to: file)
        let login = try await CommandLineTool.run(["login", "--profile", "work"], home: directory.url)
        #expect(login.status == 64)
        #expect(login.errors.contains(words), "\(login.errors)")
        #expect(login.errors.contains(file.path), "\(login.errors)")
        #expect(try String(contentsOf: file, encoding: .utf8) == text)
    }

    /// The options of `login` that concern one sign-in only; all others are remembered.
    private static let ofOneSignIn: Set = [
        "client-secret-fd", "client-secret-stdin", "copy", "help", "json", "profile", "prompt", "qr", "store",
        "timeout", "verbose", "version",
    ]

    @Test func `each option of login is remembered, or concerns one sign-in only`() async throws {
        struct Program: Decodable {
            struct Command: Decodable { let arguments: [Argument] }
            struct Argument: Decodable {
                let names: [Name]?
                let valueName: String?
            }
            struct Name: Decodable { let name: String }
            let command: Command
        }
        let directory = try TemporaryDirectory()
        let described = try await CommandLineTool.run(["login", "--experimental-dump-help"], home: directory.url)
        let arguments = try JSONDecoder().decode(Program.self, from: Data(described.output.utf8)).command.arguments
        let options = Set(arguments.compactMap { $0.names?.last?.name ?? $0.valueName })

        // The error message lists the options that the file can contain.
        try Self.write(#"{"profiles":{"work":{"login":{"isuer":"x"}}}}"#, to: Self.file(in: directory.url))
        let refused = try await CommandLineTool.run(["login", "--profile", "work"], home: directory.url)
        let list = try #require(refused.errors.firstMatch(of: /the options are ([a-z, \-]+)/)?.output.1)
        let remembered = Set(list.split(separator: ", ").map(String.init))
        #expect(remembered.isDisjoint(with: Self.ofOneSignIn))
        #expect(remembered.union(Self.ofOneSignIn).symmetricDifference(options) == [])
    }

    @Test func `the default profile comes from the option, the variable and the file, in this order`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            for profile in ["default", "work", "home"] {
                let login = try await CommandLineTool.signIn(
                    at: server, home: home, "--profile", profile, "--scope", "openid")
                #expect(login.status == 0, "\(login.errors)")
            }
            func chosen(_ arguments: [String] = [], _ environment: [String: String] = [:]) async throws -> String {
                let status = try await CommandLineTool.run(
                    ["status"] + arguments, home: home, environment: environment)
                #expect(status.status == 0, "\(status.errors)")
                return String(status.output.prefix { $0 != "\n" })
            }
            #expect(try await chosen() == "Profile: default")
            let use = try await CommandLineTool.run(["use", "work"], home: home)
            #expect(use.status == 0, "\(use.errors)")
            #expect(use.output == "The default profile is work.\n")
            #expect(try await chosen() == "Profile: work")
            #expect(try await chosen([], ["COUNTERFOIL_PROFILE": "home"]) == "Profile: home")
            #expect(
                try await chosen(["--profile", "default"], ["COUNTERFOIL_PROFILE": "home"]) == "Profile: default")
            let profiles = try await CommandLineTool.run(["profiles"], home: home)
            #expect(profiles.output.contains("\nwork (default): alice at \(server.issuer)"), "\(profiles.output)")
            let unknown = try await CommandLineTool.run(["use", "wrok"], home: home)
            #expect(unknown.status == 64)
            #expect(unknown.errors.contains("there is no profile wrok; the profiles are default, home, work"))
            // What the file remembers of a sign-in survives.
            let login = try await CommandLineTool.login([], client: nil, home: home)
            #expect(login.status == 0, "\(login.errors)")
            #expect(try await chosen() == "Profile: work")
        }
    }

    @Test func `sign-ins at the same time lose none of their options`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            try await withThrowingTaskGroup(of: Int32.self) { group in
                for number in 1...6 {
                    group.addTask {
                        try await CommandLineTool.signIn(at: server, home: home, "--profile", "p\(number)").status
                    }
                }
                for try await status in group { #expect(status == 0) }
            }
            let text = try Data(contentsOf: Self.file(in: home))
            let content = try #require(try JSONSerialization.jsonObject(with: text) as? [String: Any])
            let profiles = try #require(content["profiles"] as? [String: Any])
            #expect(profiles.keys.sorted() == ["p1", "p2", "p3", "p4", "p5", "p6"])
        }
    }
}
