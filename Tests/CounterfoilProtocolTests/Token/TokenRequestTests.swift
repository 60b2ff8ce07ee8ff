@_spi(Counterfoil) import CounterfoilProtocol
import TestSupport
import Testing

struct TokenRequestTests {
    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

    @Test(arguments: SeededGenerator.seeds)
    func `any token request is unchanged after encoding and parsing`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let clientID = ClientIdentifier()
        for _ in 0..<SeededGenerator.rounds {
            let request = TokenRequest.authorizationCode(
                .init(
                    code: AuthorizationCode(random.text(1...60, of: Alphabet.visible)) ?? AuthorizationCode(),
                    redirectURI: random.maybe { "https://app.example/" + $0.text(0...20, of: Alphabet.unreserved) },
                    codeVerifier: random.maybe { CodeVerifier($0.text(43...128, of: Alphabet.unreserved)) }
                )
            )
            let form = try FormParameters(parsing: request.parameters(clientID: clientID).encoded)
            #expect(try TokenRequest(parsing: form) == request)
            #expect(try form.single("client_id") == clientID.rawValue)
        }
    }

    @Test func `the body has the parameters of the standard`() throws {
        let exchange = TokenRequest.CodeExchange(
            code: try #require(AuthorizationCode("SplxlOBeZQQYbYS6WxSbIA")),
            redirectURI: "http://127.0.0.1:51004/callback", codeVerifier: CodeVerifier(Self.verifier)
        )
        let form = TokenRequest.authorizationCode(exchange).parameters(
            clientID: try #require(ClientIdentifier("lightbox")))
        #expect(
            form.encoded == "grant_type=authorization_code&code=SplxlOBeZQQYbYS6WxSbIA"
                + "&redirect_uri=http%3A%2F%2F127.0.0.1%3A51004%2Fcallback&code_verifier=\(Self.verifier)"
                + "&client_id=lightbox")
    }

    @Test(arguments: [
        ("code=a", OAuthError.Code.invalidRequest), ("grant_type=&code=a", .invalidRequest),
        ("grant_type=password&username=a&password=b", .unsupportedGrantType),
        ("grant_type=client_credentials&scope=a&scope=b", .invalidRequest),
        ("grant_type=client_credentials&resource=relative", .invalidTarget),
        ("grant_type=refresh_token", .invalidRequest), ("grant_type=refresh_token&refresh_token=", .invalidRequest),
        ("grant_type=refresh_token&refresh_token=a&refresh_token=a", .invalidRequest),
        ("grant_type=refresh_token&refresh_token=a%0Ab", .invalidGrant),
        ("grant_type=AUTHORIZATION_CODE&code=a", .unsupportedGrantType), ("grant_type=implicit", .unsupportedGrantType),
        ("grant_type=authorization_code", .invalidRequest), ("grant_type=authorization_code&code=", .invalidRequest),
        ("grant_type=authorization_code&grant_type=authorization_code&code=a", .invalidRequest),
        ("grant_type=authorization_code&code=a&code=a", .invalidRequest),
        ("grant_type=authorization_code&code=a&code_verifier=b&code_verifier=b", .invalidRequest),
        ("grant_type=authorization_code&code=a&redirect_uri=b&redirect_uri=b", .invalidRequest),
        ("grant_type=authorization_code&code=a&code_verifier=tooshort", .invalidRequest),
        ("grant_type=authorization_code&code=a%0Ab", .invalidGrant),
    ])
    func `an invalid token request is refused with the code of the standard`(body: String, code: OAuthError.Code) throws
    {
        let form = try FormParameters(parsing: body)
        let error = #expect(throws: OAuthError.self) { try TokenRequest(parsing: form) }
        #expect(error?.code == code)
    }

    // A verifier without a value counts as omitted.
    @Test func `an empty verifier is absent`() throws {
        let form = try FormParameters(parsing: "grant_type=authorization_code&code=a&code_verifier=&redirect_uri=")
        guard case .authorizationCode(let exchange) = try TokenRequest(parsing: form) else { return }
        #expect(exchange.codeVerifier == nil)
        #expect(exchange.redirectURI == nil)
    }
}
