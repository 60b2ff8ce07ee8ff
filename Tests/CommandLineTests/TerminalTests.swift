@_spi(Counterfoil) import CounterfoilClient
import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// Tests of the program on a terminal.
@Suite(.timeLimit(.minutes(5)), .serialized)
struct TerminalTests {
    private static func login(_ server: ScriptedAuthorizationServer, _ arguments: String...) -> [String] {
        ["login", server.issuer.rawValue, "--client-id", "lightbox", "--browser", "paste"] + arguments
    }

    // Each of the five endings comes eight times. A round takes half a second, or 1.5 seconds until the timeout, so 200
    // rounds would take two minutes.
    @Test func `the terminal shows what the user types again, however a sign-in ends`() async throws {
        let directory = try TemporaryDirectory()
        try await ScriptedAuthorizationServer.run { server in
            for round in 0..<40 {
                let terminal = try Terminal()
                defer { terminal.end() }
                let before = terminal.modes
                let status = try await terminal.run(
                    Self.login(server, "--timeout", round % 5 == 0 ? "1" : "60"), home: directory.url
                ) { process in
                    try await terminal.shows("it is not echoed")
                    _ = try await Waiting.until("a silent terminal") { terminal.echoes ? nil : true }
                    switch round % 5 {
                    case 0: break
                    case 1: terminal.type("\u{3}")
                    case 2: terminal.type("\u{4}")
                    case 3: kill(process.identifier, SIGTERM)
                    default: kill(process.identifier, SIGINT)
                    }
                }
                #expect(status == [4, 130, 130, 143, 130][round % 5], "\(round): \(terminal.text)")
                #expect(terminal.modes == before, "\(round)")
            }
        }
    }

    @Test func `a second signal ends the program at once and restores the terminal`() async throws {
        let directory = try TemporaryDirectory()
        try await ScriptedAuthorizationServer.run { server in
            let terminal = try Terminal()
            defer { terminal.end() }
            let before = terminal.modes
            // The program waits for an answer of the token endpoint that never arrives, and ignores no second signal.
            server.change { $0.interruptions = [Interruption(at: .token, .silent)] }
            let status = try await terminal.run(Self.login(server, "--timeout", "60"), home: directory.url) { process in
                _ = try await Waiting.until("a silent terminal") { terminal.echoes ? nil : true }
                kill(process.identifier, SIGTERM)
                kill(process.identifier, SIGTERM)
            }
            #expect([143].contains(status))
            #expect(terminal.modes == before)
        }
    }

    @Test func `Control-C during a refresh says why the program waits, and a second one ends it`() async throws {
        let directory = try TemporaryDirectory()
        var script = ServerScript()
        script.tokens.expiresIn = .raw("0")
        try await ScriptedAuthorizationServer.run(script) { server in
            #expect(try await CommandLineTool.signIn(at: server, home: directory.url).status == 0)
            server.change { $0.interruptions = [Interruption(at: .token, .silent)] }
            let terminal = try Terminal()
            defer { terminal.end() }
            let status = try await terminal.run(["token"], home: directory.url) { process in
                _ = try await server.requests(atLeast: 1) { $0.form["grant_type"] == "refresh_token" }
                kill(process.identifier, SIGINT)
                try await terminal.shows("this program ends when the new one is stored")
                kill(process.identifier, SIGINT)
            }
            #expect(status == 130)
            #expect(terminal.text.contains("Press Control-C again to end it now"))
        }
    }
}
