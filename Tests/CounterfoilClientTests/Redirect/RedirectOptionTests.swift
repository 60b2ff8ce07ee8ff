import CounterfoilProtocol
import Testing

@testable import CounterfoilClient

struct RedirectOptionTests {
    private let everything: RedirectOption.System = [.loopback, .customSchemes, .claimedHTTPS]

    // The three kinds, by the form of the registered URI.
    @Test(arguments: [
        "http://127.0.0.1/callback", "http://[::1]/callback", "http://localhost:3000/signin-callback",
        "com.example.lightbox:/callback", "https://lightbox.example/callback",
    ])
    func `the form of a registered redirect URI determines how the response arrives`(uri: String) throws {
        #expect(try RedirectOption.registered(uri).description == uri)
    }

    @Test(arguments: [
        "", "callback", "http://example.com/callback", "myapp:/callback", "com.example.app://callback",
        "https://app.example/callback#x", "javascript:alert(1)",
    ])
    func `an impossible redirect URI is refused with the reason`(uri: String) {
        let refusal = #expect(throws: RedirectOption.Refusal.self) { try RedirectOption.registered(uri) }
        #expect(refusal?.description.isEmpty == false)
    }

    // A claimed https URI where the system supports it; otherwise an error that says what to
    // do.
    @Test func `a claimed https URI is preferred to a private-use scheme`() throws {
        let option = try RedirectOption.claimedHTTPS("https://lightbox.example/callback")
            .otherwise(.customScheme("com.example.lightbox:/callback")).otherwise(.loopback)
        let claimed = "https://lightbox.example/callback"
        let others =
            "com.example.lightbox:/callback, otherwise http://127.0.0.1/callback, otherwise http://[::1]/callback"
        #expect(try option.usable(on: everything).description == "\(claimed), otherwise \(others)")
        #expect(try option.usable(on: [.loopback, .customSchemes]).description == others)
        #expect(
            try option.usable(on: .loopback).description == "http://127.0.0.1/callback, otherwise http://[::1]/callback"
        )
        let only = try RedirectOption.claimedHTTPS("https://lightbox.example/callback")
        let error = #expect(throws: SignInError.self) { try only.usable(on: .customSchemes) }
        #expect("\(try #require(error))".contains("https://lightbox.example/callback"))
    }

    @Test func `a port of the device is refused where an app cannot start a browser`() throws {
        let error = #expect(throws: SignInError.self) {
            try RedirectOption.loopback.usable(on: [.customSchemes, .claimedHTTPS])
        }
        #expect(
            "\(try #require(error))".hasSuffix("use a private-use scheme of the app, such as com.example.app:/callback")
        )
        let option = try RedirectOption.loopback.otherwise(.customScheme("com.example.lightbox:/callback"))
        #expect(try option.usable(on: .customSchemes).description == "com.example.lightbox:/callback")
    }

    @Test func `the next option is used if one is unavailable`() async throws {
        let taken = try await LoopbackReceiver.listen()
        let option = try RedirectOption.loopback(taken.redirectURI.rawValue).otherwise(.loopback)
        let receiver = try await option.listen()
        #expect(receiver.redirectURI != taken.redirectURI)
        await receiver.close()
        await #expect(throws: SignInError.cannotListen("another program uses port \(taken.redirectURI.uri.port ?? 0)"))
        {
            _ = try await RedirectOption.loopback(taken.redirectURI.rawValue).listen()
        }
        await taken.close()
    }

    // One redirect URI for two servers, neither of which identifies itself in its responses.
    @Test func `a redirect URI belongs to one server unless its servers identify themselves`() throws {
        let uses = RedirectURIUses()
        let one = try AuthorizationServerConfiguration.unasked("https://one.example.com")
        let other = try AuthorizationServerConfiguration.unasked("https://other.example.com")
        let named = try AuthorizationServerConfiguration.unasked("https://named.example.com", sendsIssuer: true)
        let local = try AuthorizationServerConfiguration.unasked("http://127.0.0.1:8080")
        let uri = try RedirectURI("http://127.0.0.1:50001/callback")
        for server in [one, one, named, local] { try uses.claim(uri, for: server) }
        // Another port is the same redirect URI, because servers allow any port.
        let error = #expect(throws: SignInError.self) {
            try uses.claim(RedirectURI("http://127.0.0.1:50002/callback"), for: other)
        }
        #expect("\(try #require(error))".contains("https://one.example.com"))
        try uses.claim(RedirectURI("http://127.0.0.1:50002/other"), for: other)
        try uses.claim(RedirectURI("com.example.app:/one"), for: one)
        #expect(throws: SignInError.self) { try uses.claim(RedirectURI("com.example.app:/one"), for: other) }
    }
}
