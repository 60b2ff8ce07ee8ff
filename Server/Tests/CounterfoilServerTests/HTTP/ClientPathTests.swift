import CounterfoilConsole
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Testing

/// Client identifiers in the paths of pages.
struct ClientPathTests {
    private static let url = "https://app.example.com/oauth/client.json?v=1"
    private static let segment = "~\(Base64URL.encode(Array(url.utf8)))"

    // An identifier may contain every printable ASCII character (RFC 6749 appendix A.1).
    @Test(arguments: [
        url, "https://app.example.com/a/../b", "https://app.example.com/%2F%2e", "a/b", "a b", "a%2Fb", "a?b#c", ".",
        "..",
        "app_lightbox", "~x", "~", "~w6k", "~" + Base64URL.encode(Array("app_lightbox".utf8)), "new/", segment,
        "~" + Base64URL.encode(Array(segment.utf8)), "https://app.example.com/" + String(repeating: "a", count: 2000),
    ])
    func `every identifier has one path, which leads to its page`(text: String) async throws {
        let test = try await TestServer()
        let id = try #require(ClientIdentifier(text))
        for endpoint in [Endpoint.client, .editClient, .connectedClient, .unregisteredClient, .callback] {
            let path = endpoint.path(of: id)
            let route = try #require(test.server.routing.routes.route(path), "\(path)")
            #expect(route.endpoint == endpoint)
            #expect(route.parameters.clientID == id)
            // Proxies decode, normalize or merge other characters.
            let isUnreserved = path.utf8.allSatisfy { $0 == UInt8(ascii: "/") || $0.isUnreserved }
            #expect(isUnreserved, "\(path)")
        }
    }

    // Two addresses of a page would have two form tickets, and a proxy could treat them differently.
    @Test(arguments: [
        "https%3A%2F%2Fapp.example.com%2Foauth%2Fclient.json%3Fv%3D1", "https:/app.example.com", segment + "=",
        "%7E" + segment.dropFirst(), "a:b", "a%20b", ".", "..", "app_%6Cightbox",
    ])
    func `any other form of an identifier leads nowhere`(segment: String) async throws {
        let routes = try await TestServer().server.routing.routes
        #expect(routes.route("/apps/\(segment)") == nil)
        #expect(routes.route("/account/apps/\(segment)") == nil)
    }
}
