import Foundation
import TestSupport
import Testing

/// The example programs of the client library, at the real server.
@Suite(.timeLimit(.minutes(10)))
struct ExampleProgramTests {
    /// Runs `mcp-client` until it exits, with Alice as its user; returns whether she had to sign in, too.
    private static func listTools(
        of url: String, in home: TemporaryDirectory
    ) async throws -> (ended: EndedProgram, signsIn: Bool) {
        let program = try RunningProgram(
            .mcpClient, [url], environment: ["HOME": home.url.path, "BROWSER": "/bin/true"], in: home)
        let opened = try await program.said("the URL to open, or its result") { program in
            if let match = program.errors.firstMatch(of: /Open: (http\S+)\n/) { return String(match.output.1) }
            return program.output.contains("list_notes\n") ? "" : nil
        }
        if !opened.isEmpty {
            var browser = UserAgent()
            _ = try await Account.alice.allow(opened, in: &browser)
        }
        return (try await program.ended(), !opened.isEmpty)
    }

    // The program knows the URL of the MCP server alone, and no person has registered it.
    @Test func `the example MCP client lists the tools of the example MCP server`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            let notes = try await NotesServer(registeredAt: site, areScopesListed: true)
            let server = try await site.start(options: ["--unregistered-clients", "registration"])
            try await server.whileRunning {
                try await notes.serving(for: site) {
                    let first = try await Self.listTools(of: notes.url, in: site.folder)
                    #expect(first.ended.status == 0, "\(first.ended.errors)")
                    #expect(first.ended.output == "list_notes\nadd_note\n")
                    #expect(first.signsIn)

                    // The second run has the tokens of the first.
                    let second = try await Self.listTools(of: notes.url, in: site.folder)
                    #expect(second.ended.output == first.ended.output, "\(second.ended.errors)")
                    #expect(!second.signsIn)
                }
            }
        }
    }

    // RFC 8628: over SSH no browser opens beside the program, so the user signs in on another device.
    @Test func `the example for terminals signs in on another device, and calls the sample API`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            try await site.addScope("photos.read", "See your photos and albums")
            let clientID = try await site.registerClient(scopes: ["openid", "offline_access", "photos.read"])
            try await site.serving {
                try await PhotoAPI.run(for: site) { api in
                    let program = try RunningProgram(
                        .terminal, [site.issuer, clientID, "\(api)/photos"],
                        environment: [
                            "HOME": site.folder.url.path, "SSH_CONNECTION": "192.0.2.1 5000 192.0.2.2 22",
                        ], in: site.folder)
                    let (uri, code) = try await program.said("the code") { program in
                        program.errors.firstMatch(of: /Open (\S+) on another device and enter (\S+)\.\n/).map {
                            (String($0.output.1), String($0.output.2))
                        }
                    }
                    #expect(uri == "\(site.issuer)/device")
                    var browser = UserAgent()
                    let form = try await browser.open(uri).form(with: "user_code")
                    var page = try await browser.submit(form, ["user_code": code])
                    page = try await Account.alice.fillIn(page, in: &browser)
                    let done = try await browser.submit(try page.form(withButton: "allow"), ["decision": "allow"])
                    #expect(done.status == 200)
                    let ended = try await program.ended()
                    #expect(ended.status == 0, "\(ended.errors)")
                    #expect(ended.output.contains("Harbour at dawn"), "\(ended.output)")
                }
            }
        }
    }
}
