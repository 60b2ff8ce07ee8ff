import CounterfoilClient
import CounterfoilClientTesting
import Foundation
import TestSupport
import Testing

/// Tests of `counterfoil credential docker`.
@Suite(.timeLimit(.minutes(5)))
struct CredentialDockerTests {
    private static let registry = "https://registry.example.com"
    private static let notFound = "credentials not found in native keychain\n"

    @Test func `docker gets the token for a registry of the sign-in only`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            #expect(try await CommandLineTool.signIn(at: server, home: home, "--api", Self.registry).status == 0)
            for name in ["registry.example.com", "https://registry.example.com/v2/", "registry.example.com:443\n"] {
                let answer = try await CommandLineTool.credential("docker", "get", request: name, home: home)
                #expect(answer.status == 0, "\(answer.errors)")
                let json = try JSONDecoder().decode([String: String].self, from: Data(answer.output.utf8))
                #expect(
                    json == [
                        "ServerURL": name.trimmingCharacters(in: .newlines), "Username": "oauth2",
                        "Secret": server.accessTokens[0],
                    ])
                #expect(answer.errors.isEmpty)
            }
            let identity = try await CommandLineTool.credential(
                "docker", "get", "--username", "<token>", request: "registry.example.com", home: home)
            #expect(identity.output.contains("\"Username\":\"<token>\""))
            for name in ["evil.example.com", "http://registry.example.com", "registry.example.com.evil.org", ""] {
                let answer = try await CommandLineTool.credential("docker", "get", request: name, home: home)
                #expect(answer.status == 1 && answer.output == Self.notFound, "\(name)")
            }
            let list = try await CommandLineTool.credential("docker", "list", home: home)
            #expect(list.output == "{\"\(Self.registry)\":\"oauth2\"}\n")
            let store = try await CommandLineTool.credential(
                "docker", "store", request: "{\"ServerURL\":\"registry.example.com\",\"Secret\":\"s\"}", home: home)
            #expect(store.status == 0 && store.output.isEmpty)
            let erase = try await CommandLineTool.credential(
                "docker", "erase", request: "registry.example.com", home: home)
            #expect(erase.status == 0 && erase.output.isEmpty)
            #expect(erase.errors == "The sign-in stays. To end it, run: counterfoil logout\n")
            let after = try await CommandLineTool.credential(
                "docker", "get", request: "registry.example.com", home: home)
            #expect(after.output.contains(server.accessTokens[0]))
            let unknown = try await CommandLineTool.credential("docker", "push", home: home)
            #expect(unknown.status == 64)
        }
    }

    @Test func `the link docker-credential-counterfoil finds the profile of a registry`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        let link = directory.path("docker-credential-counterfoil")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: Product.client.executable.path)
        @Sendable func run(_ operation: String, _ registry: String, _ environment: [String: String] = [:]) async throws
            -> Shell.Outcome
        {
            let file = directory.path("request")
            try Data(registry.utf8).write(to: URL(fileURLWithPath: file))
            let input = try FileHandle(forReadingFrom: URL(fileURLWithPath: file))
            defer { try? input.close() }
            return try await Shell.run(
                link, [operation], environment: ["HOME": home.path].merging(environment) { $1 },
                input: input.fileDescriptor)
        }
        let none = try await run("get", "registry.example.com")
        #expect(none.status == 1 && none.output == Self.notFound)
        try await ScriptedAuthorizationServer.run { server in
            for profile in ["default", "work"] {
                let api = profile == "work" ? Self.registry : "https://photos.example.com"
                let login = try await CommandLineTool.signIn(
                    at: server, home: home, "--api", api, "--profile", profile)
                #expect(login.status == 0)
            }
            let found = try await run("get", "registry.example.com")
            #expect(found.status == 0, "\(found.errors)")
            #expect(found.output.contains(server.accessTokens[1]))
            let named = try await run("get", "registry.example.com", ["COUNTERFOIL_PROFILE": "default"])
            #expect(named.status == 1 && named.output == Self.notFound)
            let missing = try await run("get", "registry.example.com", ["COUNTERFOIL_PROFILE": "third"])
            #expect(missing.status == 3)
            #expect(missing.output == "no user is signed in under the profile third; run: counterfoil login\n")
            #expect(missing.errors == "Error: \(missing.output)")
            let list = try await run("list", "")
            #expect(
                list.output == "{\"https://photos.example.com\":\"oauth2\",\"\(Self.registry)\":\"oauth2\"}\n")

            let second = try await CommandLineTool.signIn(
                at: server, home: home, "--api", Self.registry, "--profile", "home")
            #expect(second.status == 0)
            let ambiguous = try await run("get", "registry.example.com")
            #expect(ambiguous.status == 64)
            #expect(ambiguous.output.contains("home, work; set COUNTERFOIL_PROFILE"), "\(ambiguous.output)")
            let chosen = try await run("get", "registry.example.com", ["COUNTERFOIL_PROFILE": "home"])
            #expect(chosen.output.contains(server.accessTokens[2]))
            let version = try await run("version", "")
            #expect(version.output.hasPrefix("counterfoil "))
        }
    }
}
