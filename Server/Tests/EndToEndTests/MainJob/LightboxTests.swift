import Foundation
import TestSupport
import Testing

/// The sample app of the README, at the real server and the sample API.
@Suite(.timeLimit(.minutes(10)))
struct LightboxTests {
    /// Starts the app and waits for the URL that it prints.
    private static func begin(at site: Site, _ clientID: String, _ api: String) async throws -> (RunningProgram, String)
    {
        let app = try RunningProgram(
            .lightbox, [site.issuer, clientID, api],
            environment: ["HOME": site.folder.url.path, "BROWSER": "/bin/true"], in: site.folder)
        let url = try await app.said("the URL to open") { app in
            app.errors.firstMatch(of: /Open: (http\S+)\n/).map { String($0.output.1) }
        }
        return (app, url)
    }

    @Test func `the sample app lists the photos of the user who signs in`() async throws {
        try await Site.run { site, clientID in
            try await PhotoAPI.run(for: site) { api in
                let (app, url) = try await Self.begin(at: site, clientID, api)
                var browser = UserAgent()
                _ = try await Account.alice.allow(url, in: &browser)
                let ended = try await app.ended()
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(ended.output == "· First snow on the ridge\n· Harbour at dawn\n")
            }
        }
    }

    @Test func `the sample app says that the user refused`() async throws {
        try await Site.run { site, clientID in
            let (app, url) = try await Self.begin(at: site, clientID, "http://127.0.0.1:1")
            var browser = UserAgent()
            _ = try await Account.alice.deny(url, in: &browser)
            let ended = try await app.ended()
            #expect(ended.status == 1)
            #expect(ended.errors.contains("access was denied"), "\(ended.errors)")
        }
    }
}
