import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// The commands that show a sign-in, and the store in which it is.
extension SignInCommandTests {
    @Test func `auto says which store it uses, and memory stores nothing`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            let first = try await Self.login([server.issuer.rawValue, "--browser", "print"], home: home)
            #expect(
                first.errors.contains(
                    "Tokens are stored in the encrypted file \(home.path)/.local/share/counterfoil/tokens"))
            #expect(first.errors.contains("the Secret Service is not used, because there is no session bus"))
            let second = try await Self.login(
                [server.issuer.rawValue, "--browser", "print", "--store", "memory", "--profile", "other"], home: home)
            #expect(second.status == 0)
            #expect(second.errors.contains("Tokens are stored in memory: they are lost when this program ends."))
            #expect(
                try await CommandLineTool.run(["token", "--store", "memory", "--profile", "other"], home: home).status
                    == 3)
        }
    }

    // OpenID Connect Core §5.3
    @Test func `whoami asks the server and reports a missing scope`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            #expect(
                try await Self.login(
                    [server.issuer.rawValue, "--browser", "print", "--scope", "openid"], home: home
                ).status == 0)
            let whoami = try await CommandLineTool.run(["whoami"], home: home)
            #expect(whoami.status == 0)
            #expect(whoami.output.contains("sub: alice\n"))
            #expect(whoami.output.hasSuffix("server: \(server.issuer)\n"))
            let json = try await CommandLineTool.run(["whoami", "--json"], home: home)
            #expect(json.output.contains("\"sub\" : \"alice\""))
            server.change { $0.userInfo.replaced = [WireMember("sub", "mallory")] }
            #expect(try await CommandLineTool.run(["whoami"], home: home).status == 5)
            #expect(
                try await Self.login(
                    [server.issuer.rawValue, "--browser", "print", "--scope", "photos.read"], home: home
                ).status == 0)
            let nobody = try await CommandLineTool.run(["whoami"], home: home)
            #expect(nobody.status == 3)
            #expect(nobody.errors.contains("run counterfoil login again with --scope openid"))
        }
    }

    @Test func `profiles lists every sign-in without its tokens`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        let none = try await CommandLineTool.run(["profiles"], home: home)
        #expect(none.status == 0)
        #expect(none.errors == "No user is signed in; run: counterfoil login\n")
        #expect(try await CommandLineTool.run(["profiles", "--profile", "work"], home: home).status == 64)
        try await ScriptedAuthorizationServer.run { server in
            for (profile, scope) in [("work", "openid photos.read"), ("home", "photos.read")] {
                let login = try await Self.login(
                    [server.issuer.rawValue, "--browser", "print", "--profile", profile, "--scope", scope], home: home)
                #expect(login.status == 0)
            }
            let list = try await CommandLineTool.run(["profiles"], home: home)
            let lines = list.output.split(separator: "\n")
            #expect(lines.count == 2)
            #expect(lines.first == "home: \(server.issuer) (lightbox, photos.read)")
            #expect(lines.last?.hasPrefix("work: ") == true)
            #expect(lines.last?.hasSuffix(" at \(server.issuer) (lightbox, openid photos.read)") == true)
            let json = try await CommandLineTool.run(["profiles", "--json"], home: home)
            #expect(json.output.contains("\"profile\" : \"work\""))
            for secret in server.secrets { #expect(!(list.output + json.output).contains(secret)) }
        }
    }
}
