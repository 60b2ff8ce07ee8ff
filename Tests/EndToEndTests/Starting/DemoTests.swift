import Foundation
import TestSupport
import Testing

/// The command `demo`, whose hints are the first thing that many people try.
@Suite(.timeLimit(.minutes(10)))
struct DemoTests {
    /// What `demo` prints when it listens.
    private struct Hints {
        let password: String
        /// The arguments of each `counterfoil` command.
        let commands: [[String]]

        /// Reads the output; nil if it is not complete.
        init?(_ output: String) {
            let lines = output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            guard let password = lines.first(where: { $0.hasPrefix("password:") }) else { return nil }
            self.password = password.dropFirst("password:".count).trimmingCharacters(in: .whitespaces)
            commands = lines.filter { $0.hasPrefix("counterfoil login ") }.map { line in
                // Only the value of --scope is in quotation marks.
                let parts = line.split(separator: "\"").map(String.init)
                return parts[0].split(separator: " ").dropFirst().map(String.init) + parts.dropFirst()
            }
            guard commands.count == 2 else { return nil }
        }
    }

    @Test func `the demo accepts both kinds of unregistered apps, and its commands sign a user in`() async throws {
        try await Site.make { site in
            let issuer = "http://localhost:\(site.port)"
            let demo = try RunningProgram(
                .server, ["demo", "--port", String(site.port)], environment: ["TMPDIR": site.folder.url.path],
                in: site.folder)
            try await demo.whileRunning {
                let hints = try await demo.said("its commands") { Hints($0.errors + $0.output) }
                var agent = UserAgent()
                let answer = try await agent.open(issuer + "/.well-known/oauth-authorization-server")
                let metadata = try #require(
                    try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any])
                #expect(metadata["client_id_metadata_document_supported"] as? Bool == true)
                #expect(metadata["registration_endpoint"] as? String == issuer + "/oauth2/register")

                let alice = Account(name: "alice", fullName: "Alice Andersen", password: hints.password)
                var registered: [Bool] = []
                for command in hints.commands {
                    let device = try Device(in: site.folder)
                    let login = try device.begin(command + ["--timeout", "60"])
                    let ended = try await login.whileRunning {
                        var browser = UserAgent()
                        _ = try await alice.allow(try await device.openedAddress(), in: &browser)
                        return try await login.ended()
                    }
                    #expect(ended.status == 0, "\(ended.errors)")
                    #expect(ended.output.hasPrefix("Signed in at \(issuer)"))
                    #expect(try await device.counterfoil("token").status == 0)
                    registered.append(ended.errors.contains("This client was registered at \(issuer)."))
                }
                #expect(registered == [false, true])
            }
        }
    }
}
