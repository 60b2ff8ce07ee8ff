import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// Tests of the ways in which a client secret reaches the program.
@Suite(.timeLimit(.minutes(5)))
struct SecretFileTests {
    @Test func `a client secret is read only from a file that other users cannot read`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        let file = directory.file("secret")
        var script = ServerScript()
        script.clients.authentication = .basic
        try await ScriptedAuthorizationServer.run(script) { server in
            try Data("\(server.script.clients.secret)\n".utf8).write(to: file)
            for mode in [0o644, 0o640, 0o604] {
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
                let open = try await CommandLineTool.signIn(
                    at: server, home: home, "--client-secret-file", file.path)
                #expect(open.status == 64)
                #expect(
                    open.errors.contains(
                        "the client secret is not private: \(file.path) is accessible to other users; run: chmod 600"),
                    "\(open.errors)")
                #expect(!open.errors.contains("Open: "))
            }
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
            let link = directory.path("link")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file.path)
            let linked = try await CommandLineTool.signIn(at: server, home: home, "--client-secret-file", link)
            #expect(linked.status == 64)
            #expect(linked.errors.contains("is a symbolic link"))
            let login = try await CommandLineTool.signIn(at: server, home: home, "--client-secret-file", file.path)
            #expect(login.status == 0, "\(login.errors)")
        }
    }

    @Test func `a client secret is read from a descriptor, as of a shell or a service manager`() async throws {
        let directory = try TemporaryDirectory()
        var script = ServerScript()
        script.clients.authentication = .basic
        try await ScriptedAuthorizationServer.run(script) { server in
            let file = directory.file("secret")
            try Data("\(server.script.clients.secret)\n".utf8).write(to: file)
            let signIn = """
                exec 7<'\(file.path)'
                exec '\(try Product.client.executable.path)' login '\(server.issuer)' --client-id lightbox \
                --browser print --client-secret-fd 7
                """
            let login = try await Shell.run(
                "/bin/sh", ["-c", signIn], environment: ["HOME": directory.url.path],
                onLine: { line in
                    guard line.hasPrefix("Open: "), let url = try? BrowserURL(String(line.dropFirst(6))) else { return }
                    Task { _ = await ScriptedBrowser().open(url) }
                })
            #expect(login.status == 0, "\(login.errors)")
        }
    }

    @Test func `a vendor without client secrets gets none`() async throws {
        let directory = try TemporaryDirectory()
        let file = directory.file("secret")
        try Data("a secret".utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        let login = try await CommandLineTool.login(
            ["photos.example.com", "--vendor", "fotoware", "--client-secret-file", file.path], home: directory.url)
        #expect(login.status == 64)
        #expect(login.errors.contains("FotoWare accepts no client secret"), "\(login.errors)")
    }
}
