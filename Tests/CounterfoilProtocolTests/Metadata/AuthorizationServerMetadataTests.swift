import CounterfoilProtocol
import TestSupport
import Testing

struct AuthorizationServerMetadataTests {
    // Absent members are omitted; empty lists are kept.
    @Test(arguments: SeededGenerator.seeds)
    func `any metadata is unchanged after encoding and parsing`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<SeededGenerator.rounds {
            var metadata = AuthorizationServerMetadata(issuer: try Issuer("https://id.example.com/tenant1"))
            func names(_ random: inout SeededGenerator) -> [String]? {
                random.maybe { random in (0...2).map { _ in random.text(1...9, of: Alphabet.unreserved) } }
            }
            metadata.authorizationEndpoint = random.maybe {
                "https://id.example.com/" + $0.text(0...9, of: Alphabet.unreserved)
            }
            metadata.tokenEndpoint = random.maybe {
                "https://id.example.com/" + $0.text(0...9, of: Alphabet.unreserved)
            }
            metadata.jwksURI = random.maybe { "https://id.example.com/" + $0.text(0...9, of: Alphabet.unreserved) }
            metadata.scopesSupported = names(&random)
            metadata.responseTypesSupported = names(&random)
            metadata.grantTypesSupported = names(&random)
            metadata.codeChallengeMethodsSupported = names(&random)
            metadata.authorizationResponseIssParameterSupported = random.maybe { Bool.random(using: &$0) }
            metadata.requestURIParameterSupported = random.maybe { Bool.random(using: &$0) }
            #expect(try AuthorizationServerMetadata(parsing: try metadata.encoded()) == metadata)
        }
    }

    // The issuer is kept byte for byte, because clients compare it.
    @Test func `unknown members are ignored and the issuer keeps its spelling`() throws {
        let body = #"{"issuer":"https://ID.example.com/","x":{"y":[1,2]},"token_endpoint":"https://id.example.com/t"}"#
        let metadata = try AuthorizationServerMetadata(parsing: Array(body.utf8))
        #expect(metadata.issuer == "https://ID.example.com/")
        #expect(metadata.tokenEndpoint == "https://id.example.com/t")
        #expect(metadata.codeChallengeMethodsSupported == nil)
    }

    @Test(arguments: ["", "{}", "[]", #"{"issuer":7}"#, #"{"issuer":"https://a.example","token_endpoint":7}"#])
    func `invalid metadata is refused`(body: String) {
        #expect(throws: (any Error).self) { try AuthorizationServerMetadata(parsing: Array(body.utf8)) }
    }
}
