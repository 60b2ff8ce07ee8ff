import Foundation
import TestSupport
import Testing

import struct TestSupport.Site

/// `Server/Packaging/proxies/nginx-readiness`, which keeps servers that are not ready out of an upstream of nginx.
@Suite(.timeLimit(.minutes(2)))
struct NginxReadinessTests {
    private static let program = Repository.root.appendingPathComponent("Server/Packaging/proxies/nginx-readiness").path

    @Test func `a server below the path of its issuer is up, and one that does not answer is down`() async throws {
        try await Site.make(path: "/auth") { site in
            let (closed, other) = (try ReservedPort(), try ReservedPort())
            try await site.serving {
                let (up, down) = ("127.0.0.1:\(site.port)", "127.0.0.1:\(closed.number)")
                let ready = try await Self.servers("\(up)/auth", "\(down)/auth")
                #expect(ready == ["server \(up) max_fails=0;", "server \(down) max_fails=0 down;"])
                // If none answers, nginx tries each of them.
                let silent = try await Self.servers("127.0.0.1:\(other.number)", down)
                #expect(silent == ["server 127.0.0.1:\(other.number) max_fails=0;", "server \(down) max_fails=0;"])
            }
        }
    }

    /// The lines that the program writes for servers.
    private static func servers(_ servers: String...) async throws -> [String] {
        try await TemporaryDirectory.forPrograms { folder in
            let file = folder.path("servers.conf")
            let ended = try await RunningProgram(at: "/bin/sh", [program, "--once", file] + servers, in: folder).ended()
            #expect(ended.status == 0, "\(ended.errors)")
            return try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(String.init)
        }
    }
}
