import CounterfoilClient
import CounterfoilProtocol
import Testing

struct PrivateUseSchemeTests {
    @Test(arguments: [
        ("com.example.app:/callback", "com.example.app"), ("com.example.app:/", "com.example.app"),
        ("Com.Example.App:/cb?tenant=x", "com.example.app"), ("xn--bcher-kva.example:/cb", "xn--bcher-kva.example"),
        ("com.idp.usercontent.client1234:/oauth2redirect", "com.idp.usercontent.client1234"),
    ])
    func `a reversed domain name is a valid private-use scheme`(text: String, scheme: String) throws {
        let uri = try CustomSchemeRedirectURI(text)
        #expect(uri.scheme == scheme)
        #expect(uri.redirectURI.rawValue == text)
    }

    @Test(arguments: [
        ("myapp:/cb", CustomSchemeRedirectURI.Refusal.notReversedDomain("myapp")),
        ("com.example.-app:/cb", .notReversedDomain("com.example.-app")),
        ("com..app:/cb", .notReversedDomain("com..app")),
        ("c.app:/cb", .notReversedDomain("c.app")), ("com.example+app:/cb", .notReversedDomain("com.example+app")),
        ("127.0.0.1:/cb", .notARedirectURI(.notAURI(.relative))), ("soap.beep:/cb", .registered("soap.beep")),
        ("com.example.app://cb", .notASingleSlash), ("com.example.app:cb", .notASingleSlash),
        ("com.example.app:", .notASingleSlash), ("com.example.app:/cb#x", .notARedirectURI(.hasFragment)),
        ("https://example.com/cb", .notAPrivateScheme), ("http://127.0.0.1/cb", .notAPrivateScheme),
        ("javascript:/cb", .notARedirectURI(.dangerousScheme("javascript"))),
    ])
    func `any other scheme is refused with the reason`(text: String, refusal: CustomSchemeRedirectURI.Refusal) {
        #expect(throws: refusal) { try CustomSchemeRedirectURI(text) }
    }
}
