import TestSupport
import Testing

/// The command `health`, the health check of the container image.
@Suite(.timeLimit(.minutes(10)))
struct HealthCommandTests {
    @Test func `health succeeds for a server that is ready, and fails for everything else`() async throws {
        try await Site.make { site in
            func health(_ path: String) async throws -> EndedProgram {
                try await site.server(["health", site.origin + path])
            }
            try await site.serving {
                let ready = try await health("/readyz")
                #expect(ready.status == 0)
                #expect(ready.output.contains("ready"))
                let missing = try await health("/no-such-page")
                #expect(missing.status == 6)
                #expect(missing.errors.contains("answered with status 404"))
                // A redirect is not followed.
                let redirect = try await health("/account")
                #expect(redirect.status == 6)
            }
            let stopped = try await health("/readyz")
            #expect(stopped.status == 6)
            #expect(stopped.errors.contains("does not answer"))
        }
    }

    @Test(arguments: ["127.0.0.1:8080", "file:///etc/passwd", "http://user:secret@127.0.0.1:8080/readyz", "https://"])
    func `health refuses what is not a URL of a server`(url: String) async throws {
        try await TemporaryDirectory.forPrograms { folder in
            let ended = try await RunningProgram(.server, ["health", url], in: folder).ended()
            #expect(ended.status == 64)
            #expect(!ended.errors.contains("secret@"))
        }
    }
}
