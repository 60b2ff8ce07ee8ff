import CounterfoilClient
import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// Tests of the program in the network of this process.
///
/// `script/networks` runs them in networks with one address family, and without any network but loopback.
@Suite(.timeLimit(.minutes(2)))
struct NetworkTests {
    /// The only address family of loopback, or IPv4.
    private static var host: LoopbackHost { RawAddress.canBindIPv4 ? .ipv4 : .ipv6 }

    @Test func `a user signs in through the browser, calls an API, and signs out`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run(host: Self.host) { server in
            let visit = Mutex<Task<BrowserLaunch, Never>?>(nil)
            let login = try await CommandLineTool.run(
                [
                    "login", server.issuer.rawValue, "--client-id", "lightbox", "--browser", "print", "--timeout",
                    "60", "--scope", "openid photos.read",
                ], home: home
            ) { line in
                guard line.hasPrefix("Open: "), let url = try? BrowserURL(String(line.dropFirst(6))) else { return }
                visit.withLock { $0 = Task { await ScriptedBrowser().open(url) } }
            }
            #expect(login.status == 0, "\(login.errors)")
            #expect(await visit.withLock { $0 }?.value == .launched)
            let redirectURI = try #require(server.requests(to: .authorization).first?.query["redirect_uri"])
            #expect(redirectURI.hasPrefix("http://\(Self.host.rawValue):"))

            let call = try await CommandLineTool.run(["call", server.url(of: .api)], home: home)
            #expect(call.status == 0, "\(call.errors)")
            server.expireAccessTokens()
            let again = try await CommandLineTool.run(["call", server.url(of: .api)], home: home)
            #expect(again.status == 0, "\(again.errors)")
            let logout = try await CommandLineTool.run(["logout"], home: home)
            #expect(logout.status == 0, "\(logout.errors)")
        }
    }
}

/// The address 127.0.0.1 of this device.
private enum RawAddress {
    static var canBindIPv4: Bool {
        let descriptor = socket(AF_INET, streamSocket, 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
