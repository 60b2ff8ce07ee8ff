import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Testing

struct AuditPseudonymTests {
    // The pseudonym of an identifier can be neither computed nor tested without the server key.
    @Test func `the pseudonym of a user depends on the server key, and is always the same with it`() throws {
        let (ada, bob) = (UserIdentifier(), UserIdentifier())
        let keys = try [UInt8(1), 2].map { byte in
            try #require(ServerKey(bytes: [UInt8](repeating: byte, count: 32)))
        }
        func pseudonym(_ user: UserIdentifier, _ key: ServerKey) throws -> UserIdentifier {
            try RemovalTerms(of: user, with: key).pseudonym
        }
        #expect(try pseudonym(ada, keys[0]) == pseudonym(ada, keys[0]))
        let all = try [pseudonym(ada, keys[0]), pseudonym(bob, keys[0]), pseudonym(ada, keys[1])]
        #expect(Set(all).count == 3)
        for pseudonym in all {
            #expect(pseudonym.isPseudonym)
            // A store and a command parse it like any identifier.
            #expect(UserIdentifier(pseudonym.rawValue) == pseudonym)
            #expect(!pseudonym.rawValue.contains(ada.rawValue.dropFirst(4)))
        }
        #expect(!ada.isPseudonym)
        // Each encryption has a nonce of its own, so equal queue entries do not name one user.
        let sealed = try (1...2).map { _ in try RemovalTerms(of: ada, with: keys[0]).sealedUserID }
        #expect(sealed[0] != sealed[1])
    }
}
