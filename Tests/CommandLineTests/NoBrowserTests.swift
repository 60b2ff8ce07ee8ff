import CounterfoilClient
import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// Tests of a sign-in on a device without a browser that is no SSH session, such as a container.
@Suite(.timeLimit(.minutes(5)))
struct NoBrowserTests {
    @Test(arguments: [(true, "--browser paste, or with --device."), (false, "--browser paste.")])
    func `login names the other ways if no browser opens`(serverOffersDevice: Bool, ways: String) async throws {
        let directory = try TemporaryDirectory()
        var script = ServerScript(.noPushedRequests)
        if !serverOffersDevice { script.metadata.absent.insert(.deviceAuthorization) }
        try await ScriptedAuthorizationServer.run(script) { server in
            let address = Mutex<String?>(nil)
            let visit = Mutex<Task<BrowserLaunch, Never>?>(nil)
            let login = try await CommandLineTool.run(
                ["login", server.issuer.rawValue, "--client-id", "lightbox", "--timeout", "60"], home: directory.url,
                environment: ["PATH": "/nonexistent"]
            ) { line in
                if line.hasPrefix("Open: ") { address.withLock { $0 = String(line.dropFirst(6)) } }
                guard line.hasPrefix("The browser could not be opened ("),
                    let url = address.withLock({ $0 }).flatMap({ try? BrowserURL($0) })
                else { return }
                visit.withLock { $0 = Task { await ScriptedBrowser().open(url) } }
            }
            #expect(await visit.withLock { $0 }?.value == .launched)
            #expect(login.status == 0, "\(login.errors)")
            #expect(
                login.errors.contains(
                    "The browser could not be opened (xdg-open is not installed); open the URL yourself in a browser on "
                        + "this device. If your browser is on another device, press Control-C, and run the command again "
                        + "with \(ways)\n"), "\(login.errors)")
        }
    }
}
