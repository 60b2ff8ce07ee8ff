import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// Tests of vendor profiles at a server of the standards, to which the clients of the vendor have moved.
@Suite(.timeLimit(.minutes(2)), .serialized)
struct MovedVendorTests {
    private static let origin = "https://id.example.com"

    /// Runs `body` with a server of the standards that has the redirect URI of a vendor.
    private static func run(
        _ profile: ServerProfile, changing change: @Sendable (inout ServerScript) -> Void = { _ in },
        _ body: @escaping @Sendable (ScriptedAuthorizationServer, NativeSignIn) async throws -> Void
    ) async throws {
        var script = ServerScript(.noPushedRequests)
        script.publicOrigin = origin
        script.issuerPath = profile.name == "fotoware" ? "/fotoweb" : ""
        script.clients.redirects = .anyPort([profile.redirect.loopback ?? ""], hosts: ["127.0.0.1", "localhost"])
        change(&script)
        try await ScriptedAuthorizationServer.run(script) { server in
            let transport = LeadingTransport(to: server)
            var signIn = NativeSignIn(
                at: try VendorServer(profile, at: "id.example.com"),
                clientID: try #require(ClientIdentifier("lightbox")),
                scope: try Scope(parsing: "photos.read albums.read"))
            signIn.transport = transport
            signIn.browser = ScriptedBrowser(over: transport)
            signIn.timeout = .seconds(60)
            signIn.redirectURIUses = RedirectURIUses()
            try await body(server, signIn)
        }
    }

    // RFC 6749 §3.3, RFC 6750 §2.1, RFC 7009 §2
    @Test(arguments: [ServerProfile.fotoware, .github, .google, .itwin, .slack, .zoho])
    func `the metadata of a server count at a host that is not the vendor's`(profile: ServerProfile) async throws {
        try await Self.run(profile) { server, signIn in
            let credentials = try await signIn.run()
            #expect(credentials.server == nil)
            let request = try #require(server.requests(to: .authorization).first)
            #expect(request.query["scope"] == "photos.read albums.read")
            #expect(request.query["user_scope"] == nil && request.query["access_type"] == nil)
            #expect(request.query["prompt"] == nil)
            let port = request.query["redirect_uri"].flatMap { URL(string: $0)?.port }
            #expect(port.map { ![31234, 41234, 51234].contains($0) } == true)

            let store: any TokenStore = MemoryTokenStore()
            try await store.save(credentials, as: .standard)
            let session = TokenSession(
                issuer: credentials.issuer, clientID: credentials.clientID, store: store,
                origins: [try APIOrigin(Self.origin)], transport: signIn.transport)
            #expect(try await session.get(server.url(of: .api)).statusCode == 200)
            #expect(server.requests(to: .api).last?.authorization?.hasPrefix("Bearer ") == true)
            let fresh = try await session.refreshed(replacing: credentials.accessToken)
            #expect(fresh.accessToken != credentials.accessToken)
            #expect(try await session.signOut() == .revoked)
            #expect(server.requests(to: .revocation).contains { $0.form["token"] == fresh.refreshToken?.exposed })
        }
    }

    // The server had no metadata at the sign-in.
    @Test func `a stored sign-in at such a server becomes one of the standards with its next refresh`() async throws {
        try await Self.run(.zoho) { server, signIn in
            let credentials = try await signIn.run()
            let json = String(decoding: try JSONEncoder().encode(credentials), as: UTF8.self)
            let former = json.dropLast() + #","server":{"name":"zoho","host":"id.example.com"}}"#
            let stored = try JSONDecoder().decode(Credentials.self, from: Data(former.utf8))
            #expect(stored.server != nil)
            let store: any TokenStore = MemoryTokenStore()
            try await store.save(stored, as: .standard)
            let session = TokenSession(ofAnyClientIn: store, transport: signIn.transport)
            let fresh = try await session.refreshed(replacing: stored.accessToken)
            #expect(fresh.server == nil)
            #expect(try await store.credentials(of: .standard)?.server == nil)
        }
    }

    @Test func `a server that is only unavailable is not taken for one of the vendor`() async throws {
        try await Self.run(
            .zoho, changing: { $0.interruptions = [Interruption(at: .metadata, .html(status: 503))] }
        ) { server, signIn in
            await #expect {
                try await signIn.run()
            } throws: {
                if case .unavailable = $0 as? SignInError { true } else { false }
            }
            #expect(server.requests(to: .authorization).isEmpty)
        }
    }
}
