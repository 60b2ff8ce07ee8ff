@_spi(Counterfoil) import CounterfoilClient
import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// Tests of `counterfoil logout --browser` when the browser does not return: the tokens are deleted in any case.
@Suite(.timeLimit(.minutes(5)))
struct LogoutTests {
    private static let arguments = ["logout", "--browser", "print", "--redirect-uri"]

    @Test(arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
    func `a signal ends the wait for the browser, and the message says that the token is deleted`(
        signal: Int32, status: Int32
    ) async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            #expect(try await CommandLineTool.signIn(at: server, home: home).status == 0)
            let process = Mutex<ChildProcess?>(nil)
            let logout = try await CommandLineTool.run(
                Self.arguments + ["http://127.0.0.1/callback"], home: home,
                onLine: { line in
                    guard line.hasPrefix("Waiting "), let logout = process.withLock({ $0 }) else { return }
                    kill(logout.identifier, signal)
                }, started: { started in process.withLock { $0 = started } })
            #expect(logout.status == status)
            #expect(
                logout.errors.hasSuffix(
                    "Error: the token was deleted here and revoked at the server, but the sign-out in the browser was"
                        + " interrupted\n"), "\(logout.errors)")
            #expect(try await CommandLineTool.run(["token"], home: home).status == 3)
        }
    }

    @Test func `a port in use is named, and the message says that the token is deleted`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            #expect(try await CommandLineTool.signIn(at: server, home: home).status == 0)
            let port = try #require(server.issuer.rawValue.split(separator: ":").last)
            let logout = try await CommandLineTool.run(
                Self.arguments + ["http://127.0.0.1:\(port)/callback"], home: home)
            #expect(logout.status == 6)
            #expect(
                logout.errors.hasPrefix(
                    "Error: the token was deleted here and revoked at the server, but the session at the server was not"
                        + " ended: cannot receive the response from the browser: "), "\(logout.errors)")
            #expect(try await CommandLineTool.run(["token"], home: home).status == 3)
        }
    }

    @Test func `without an answer to the revocation, a signal keeps its exit code`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            #expect(try await CommandLineTool.signIn(at: server, home: home).status == 0)
            server.change { $0.interruptions = [Interruption(at: .revocation, times: 9, .trouble(503))] }
            let process = Mutex<ChildProcess?>(nil)
            let logout = try await CommandLineTool.run(
                Self.arguments + ["http://127.0.0.1/callback"], home: home,
                onLine: { line in
                    guard line.hasPrefix("Waiting "), let logout = process.withLock({ $0 }) else { return }
                    kill(logout.identifier, SIGINT)
                }, started: { started in process.withLock { $0 = started } })
            #expect(logout.status == 130)
            #expect(
                logout.errors.contains("Error: the token was deleted here, but could not be revoked at the server: "))
        }
    }
}
