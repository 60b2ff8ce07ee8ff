import CounterfoilProtocol
import Testing

struct SecretTests {
    private static let text = "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldA"

    private static var secrets: [any Secret] {
        let made: [(any Secret)?] = [
            AuthorizationCode(text), AccessToken(text), RefreshToken(text), IDToken(text), ClientSecret(text),
            OAuthState(text),
            Nonce(text), CodeVerifier(text),
        ]
        return made.compactMap { $0 }
    }

    // Interpolation, description, debug description, dump and reflection do not reveal a secret.
    @Test func `a secret prints as redacted, however it is printed`() {
        #expect(Self.secrets.count == 8)
        for secret in Self.secrets {
            var dumped = ""
            dump(secret, to: &dumped)
            dump([secret], to: &dumped)
            let printed = ["\(secret)", "\([secret])", String(describing: secret), String(reflecting: secret), dumped]
            for text in printed { #expect(!text.contains(Self.text)) }
            #expect("\(secret)".contains("redacted"))
            #expect(secret.exposed == Self.text)
            #expect(Mirror(reflecting: secret).children.isEmpty)
        }
    }

    @Test func `a request that contains secrets prints without them`() throws {
        let verifier = try #require(CodeVerifier(Self.text))
        let code = try #require(AuthorizationCode(Self.text))
        let request = TokenRequest.authorizationCode(.init(code: code, redirectURI: nil, codeVerifier: verifier))
        #expect(!"\(request)".contains(Self.text))
        #expect(!String(reflecting: request).contains(Self.text))
    }

    // Comparison covers all bytes.
    @Test(arguments: [
        ("", "", true), ("a", "a", true), ("a", "b", false), ("a", "aa", false), ("aa", "a", false), ("é", "é", true),
    ])
    func `texts are equal if their bytes are`(left: String, right: String, equal: Bool) {
        #expect(ConstantTime.equals(left, right) == equal)
    }

    // A comparison that stopped at the first difference would read fewer bytes.
    @Test(arguments: [0, 1, 30, 31])
    func `a comparison reads every byte, wherever two secrets differ`(place: Int) {
        let secret = [UInt8](repeating: 0x61, count: 32)
        var other = secret
        other[place] = 0x62
        let counted = CountedBytes(bytes: other)
        #expect(!ConstantTime.equals(secret, counted))
        #expect(!ConstantTime.equals(counted, secret))
        #expect(counted.reads.count == 2 * secret.count)
    }

    // The default state is random; RFC 6749 §10.10 for codes.
    @Test func `new values are never repeated`() {
        #expect(Set((0..<256).map { _ in OAuthState().exposed }).count == 256)
        #expect(Set((0..<256).map { _ in AuthorizationCode().exposed }).count == 256)
        #expect(OAuthState().exposed.utf8.count == 43)
        #expect(AuthorizationCode().exposed.utf8.count == 43)
    }

    // Client identifiers begin with app_, so that they never equal the sub of a user.
    @Test func `a new client identifier starts with app_`() {
        let identifier = ClientIdentifier()
        #expect(identifier.rawValue.hasPrefix("app_"))
        #expect(ClientIdentifier(identifier.rawValue) == identifier)
    }

    @Test(arguments: ["", "é", "a\nb", "a\0", String(repeating: "a", count: 2049)])
    func `an invalid client identifier is refused`(text: String) {
        #expect(ClientIdentifier(text) == nil)
    }

    @Test func `lengths on the wire are limited`() {
        #expect(OAuthState(String(repeating: "a", count: OAuthState.byteLimit)) != nil)
        #expect(OAuthState(String(repeating: "a", count: OAuthState.byteLimit + 1)) == nil)
        #expect(Nonce(String(repeating: "a", count: Nonce.byteLimit + 1)) == nil)
        #expect(AuthorizationCode(String(repeating: "a", count: 4097)) == nil)
        #expect(AccessToken("a b") == nil)
        #expect(RefreshToken(String(repeating: "a", count: 16385)) == nil)
    }
}

/// Bytes that count how often one of them is read.
private struct CountedBytes: Collection {
    final class Reads {
        var count = 0
    }

    let bytes: [UInt8]
    let reads = Reads()

    var startIndex: Int { bytes.startIndex }
    var endIndex: Int { bytes.endIndex }

    func index(after index: Int) -> Int { index + 1 }

    subscript(index: Int) -> UInt8 {
        reads.count += 1
        return bytes[index]
    }
}
