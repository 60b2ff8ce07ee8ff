import CounterfoilProtocol
import Testing

@testable import CounterfoilClient

struct CallbackURLTests {
    // Only a URL that equals the redirect URI apart from added query parameters is a response.
    @Test(arguments: [
        ("com.example.app:/cb", "com.example.app:/cb?code=a&state=b"),
        ("com.example.app:/cb", "COM.Example.App:/cb?code=a&state=b"),
        ("com.example.app:/cb?tenant=x", "com.example.app:/cb?tenant=x&code=a&state=b"),
        ("com.example.app:/cb", "com.example.app:/cb?code=a&state=b#_=_"),
        ("https://app.example.com/cb", "https://App.Example.com/cb?code=a&state=b"),
        ("https://app.example.com", "https://app.example.com/?code=a&state=b"),
        ("http://127.0.0.1:51234/cb", "http://127.0.0.1:51234/cb?code=a&state=b"),
        ("http://[::1]:51234", "http://[::1]:51234/?code=a&state=b"),
    ])
    func `a response is parsed from a complete URL`(registered: String, address: String) throws {
        let redirectURI = try RedirectURI(registered)
        let callback = try CallbackURL(address).callback(at: redirectURI)
        #expect(callback.redirectURI == redirectURI)
        #expect(try callback.parameters.single("code") == "a")
        #expect(try callback.parameters.single("state") == "b")
    }

    @Test(arguments: [
        ("com.example.app:/cb", "com.example.app:/CB?code=a"), ("com.example.app:/cb", "com.example.app:/cb/?code=a"),
        ("com.example.app:/cb", "com.example.app://cb?code=a"),
        ("com.example.app:/cb", "com.example.app.evil:/cb?code=a"),
        ("com.example.app:/cb?tenant=x", "com.example.app:/cb?tenant=xy&code=a"),
        ("com.example.app:/cb?tenant=x", "com.example.app:/cb?code=a&tenant=x"),
        ("https://app.example.com/cb", "https://app.example.com.evil.example/cb?code=a"),
        ("https://app.example.com/cb", "http://app.example.com/cb?code=a"),
        ("https://app.example.com/cb", "https://app.example.com:444/cb?code=a"),
        ("http://127.0.0.1:51234/cb", "http://127.0.0.1:51235/cb?code=a"), ("http://127.0.0.1:51234/cb", ""),
        ("http://127.0.0.1:51234/cb", "?code=a"),
    ])
    func `any other URL is not the redirect URI`(registered: String, address: String) throws {
        let redirectURI = try RedirectURI(registered)
        #expect(throws: CallbackURL.Refusal.otherURL) {
            try CallbackURL(address).callback(at: redirectURI)
        }
    }

    @Test func `unreadable and overlong URLs are refused`() throws {
        let redirectURI = try RedirectURI("com.example.app:/cb")
        #expect(throws: CallbackURL.Refusal.unreadable) {
            try CallbackURL("com.example.app:/cb?code=%zz").callback(at: redirectURI)
        }
        #expect(throws: CallbackURL.Refusal.tooLong) {
            try CallbackURL("com.example.app:/cb?code=" + String(repeating: "a", count: 40_000))
        }
    }
}
