import CounterfoilProtocol
import Testing

/// The grammar of `WWW-Authenticate` (RFC 9110 §11.6.1).
struct AuthenticationChallengeTests {
    private func shown(_ field: String) -> [String] {
        AuthenticationChallenge.list(in: field).map { challenge in
            let parameters = challenge.parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            return ([challenge.scheme] + (challenge.token68.map { ["<\($0)>"] } ?? []) + parameters)
                .joined(separator: "|")
        }
    }

    // RFC 9110 §11.6.1: the example of the standard, and other forms that the grammar allows.
    @Test(arguments: [
        (
            #"Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\"""#,
            ["basic|realm=simple", #"newauth|realm=apps|title=Login to "apps"|type=1"#]
        ),
        ("Bearer", ["bearer"]),
        ("Negotiate, Bearer", ["negotiate", "bearer"]),
        ("NTLM TlRMTVNTUAA=, Bearer realm=api", ["ntlm|<TlRMTVNTUAA=>", "bearer|realm=api"]),
        (#"Bearer realm = "a" , error="invalid_token""#, ["bearer|error=invalid_token|realm=a"]),
        (#", ,Bearer realm="a",,"#, ["bearer|realm=a"]),
        (#"BEARER REALM="A, B, Basic x=\"y\"""#, [#"bearer|realm=A, B, Basic x="y""#]),
        (#"DPoP algs="ES256 RS256", Bearer scope="a b""#, ["dpop|algs=ES256 RS256", "bearer|scope=a b"]),
        (#"Bearer scope="a", scope="b", error=x"#, ["bearer|error=x"]),
    ])
    func `every challenge of a field is parsed`(field: String, expected: [String]) {
        #expect(shown(field) == expected)
    }

    @Test(arguments: [
        ("", []), (",", []), (#"Bearer realm="never ends"#, []), ("=", []),
        (#"Basic realm="a", Bearer scope="broken"#, ["basic|realm=a"]),
        (#"Bearer realm="a" scope="b""#, []),
    ])
    func `a syntax error ends the parsing`(field: String, expected: [String]) {
        #expect(shown(field) == expected)
    }

    @Test
    func `a field is parsed up to its limits and no further`() {
        #expect(AuthenticationChallenge.list(in: String(repeating: "a,", count: 9000)).isEmpty)
        #expect(
            AuthenticationChallenge.list(in: String(repeating: "a,", count: 1000)).count
                == AuthenticationChallenge.challengeLimit)
        let many = "Bearer " + (0..<100).map { "p\($0)=1" }.joined(separator: ",")
        #expect(AuthenticationChallenge.list(in: many).isEmpty)
    }
}
