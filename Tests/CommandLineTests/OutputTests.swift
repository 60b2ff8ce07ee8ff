import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// Tests of what the program writes to standard output.
@Suite(.timeLimit(.minutes(5)))
struct OutputTests {
    private static let full = "/dev/full"

    @Test func `output that cannot be written is an error`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            let login = try await CommandLineTool.signIn(at: server, home: home, "--scope", "openid")
            #expect(login.status == 0, "\(login.errors)")
            for arguments in [
                ["token"], ["token", "--json"], ["call", server.url(of: .api)], ["whoami"], ["profiles"],
                ["doctor", server.issuer.rawValue], ["--help"], ["login", "--help"], ["--version"],
                ["--generate-completion-script", "bash"],
            ] {
                let disk = try FileHandle(forWritingTo: URL(fileURLWithPath: Self.full))
                let outcome = try await CommandLineTool.run(arguments, home: home, output: disk)
                #expect(outcome.status == 74, "\(arguments): \(outcome.errors)")
                #expect(
                    outcome.errors.contains("the output could not be written: No space left on device"),
                    "\(arguments): \(outcome.errors)")
            }
        }
    }

    @Test func `a reader that closes the pipe is no error`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            #expect(try await CommandLineTool.signIn(at: server, home: home).status == 0)
            for arguments in [["token"], ["profiles"], ["--help"]] {
                let pipe = Pipe()
                try pipe.fileHandleForReading.close()
                let outcome = try await CommandLineTool.run(
                    arguments, home: home, output: pipe.fileHandleForWriting)
                #expect(outcome.status == 0)
                #expect(outcome.errors.isEmpty, "\(arguments): \(outcome.errors)")
            }
        }
    }

    // If descriptor 1 were free, the next file that the program opens could receive the token.
    @Test func `a closed standard output is an error, and no file receives the token`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            #expect(try await CommandLineTool.signIn(at: server, home: home).status == 0)
            let token = try #require(server.accessTokens.first)
            let outcome = try await Shell.run(
                "exec '\(try Product.client.executable.path)' token >&-", environment: ["HOME": home.path])
            #expect(outcome.status == 74, "\(outcome.errors)")
            let files = FileManager.default.enumerator(at: home, includingPropertiesForKeys: nil)
            for case let file as URL in try #require(files) {
                let bytes = FileManager.default.contents(atPath: file.path) ?? Data()
                #expect(!String(decoding: bytes, as: UTF8.self).contains(token), "\(file.path)")
            }
        }
    }

    @Test func `JSON contains no character that controls a terminal, and the same text`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        let name = "Al\u{9B}31m\u{202E}ice\u{85}\u{2028}\u{E0041}\u{7F}"
        try await ScriptedAuthorizationServer.run { server in
            server.change { $0.userInfo.replaced = [WireMember("name", .text(name))] }
            #expect(
                try await CommandLineTool.signIn(at: server, home: home, "--scope", "openid profile").status == 0)
            let json = try await CommandLineTool.run(["whoami", "--json"], home: home)
            #expect(json.status == 0, "\(json.errors)")
            #expect(json.output.unicodeScalars.allSatisfy { $0.isASCII && ($0.value >= 0x20 || $0 == "\n") })
            struct Answer: Decodable {
                let claims: [String: String]
            }
            let answer = try JSONDecoder().decode(Answer.self, from: Data(json.output.utf8))
            #expect(answer.claims["name"] == name)
        }
    }
}
