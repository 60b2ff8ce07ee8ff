import CounterfoilProtocol
import CounterfoilServer
import Testing

struct RedirectURIRegistrationTests {
    private static func refusal(_ text: String, issuer: String = "https://id.example.com") throws
        -> RedirectURIRegistration.Refusal?
    {
        let issuer = try Issuer(issuer)
        do {
            _ = try RedirectURIRegistration.check(text, issuer: issuer)
            return nil
        } catch { return error }
    }

    // R105, R111
    @Test(arguments: [
        "http://127.0.0.1/callback", "http://127.0.0.1:4000/callback", "http://[::1]/callback",
        "http://localhost/callback",
        "com.example.app:/callback", "https://app.example/callback", "https://app.example/callback?tenant=1",
        "https://app.id.example.com/callback",
    ])
    func `the three kinds of address can be registered`(text: String) throws {
        #expect(try Self.refusal(text) == nil)
    }

    // AZ-27, AZ-41, AZ-45
    @Test(arguments: [
        ("https://app.example/cb?code=attacker", RedirectURIRegistration.Refusal.reservedParameter("code")),
        ("https://app.example/cb?state=x", .reservedParameter("state")),
        ("https://app.example/cb?a=1&iss=x", .reservedParameter("iss")),
        ("https://app.example/cb?%63ode=x", .reservedParameter("code")),
        ("https://app.example/cb?error=x", .reservedParameter("error")),
        ("https://app.example/cb?x=%ff", .badQuery), ("https://id.example.com/oauth2/authorize", .ownOrigin),
        ("https://id.example.com:443/x", .ownOrigin), ("https://ID.example.com/x", .ownOrigin),
        ("myapp:/callback", .schemeWithoutPeriod("myapp")), ("com.example.app://callback", .schemeWithAuthority),
        ("https://*.app.example/cb", .wildcard), ("javascript:alert(1)", .malformed(.dangerousScheme("javascript"))),
        ("data:text/html,x", .malformed(.dangerousScheme("data"))),
        ("https://app.example/cb#x", .malformed(.hasFragment)),
        ("http://app.example/cb", .malformed(.insecure)), ("/cb", .malformed(.notAURI(.relative))),
    ])
    func `what could never be safe is refused with the reason`(text: String, expected: RedirectURIRegistration.Refusal)
        throws
    {
        #expect(try Self.refusal(text) == expected)
        #expect(!expected.description.isEmpty)
    }

    // AZ-45: with an issuer on loopback, its own port is refused under every name of the device.
    @Test(arguments: [
        ("http://127.0.0.1:8080/cb", true), ("http://localhost:8080/cb", true), ("http://[::1]:8080/cb", true),
        ("http://127.0.0.1:8081/cb", false), ("http://127.0.0.1/cb", false),
    ])
    func `the port of a server on loopback is its own`(text: String, isOwn: Bool) throws {
        #expect(try Self.refusal(text, issuer: "http://127.0.0.1:8080") == (isOwn ? .ownOrigin : nil))
    }
}
