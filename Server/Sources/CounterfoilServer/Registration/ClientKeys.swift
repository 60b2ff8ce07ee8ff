import CounterfoilTokens
import Foundation

/// The rules for `jwks` in a client's registration (RFC 7591 §2): public signature keys that the server supports.
enum ClientKeys {
    /// The maximum number of keys of a client, which is more than one so that the client can rotate its keys.
    static let limit = 10

    /// Reads a JSON Web Key Set (RFC 7517 §5).
    ///
    /// `JSONWebKeySet` ignores keys that it cannot use, as RFC 7517 §5 recommends. A registered key set with such
    /// a key is refused instead, so that the developer learns of it. In particular, a private key is refused,
    /// because a private key must never leave the client.
    static func read(_ text: String) throws(ClientProblem.Reason) -> JSONWebKeySet {
        guard let set = try? JSONWebKeySet(parsing: Array(text.utf8)), let count = try? entries(of: text), count > 0
        else {
            throw .notAKeySet
        }
        guard count <= limit else { throw .tooManyKeys }
        guard set.keys.count == count else { throw .unusableKey }
        return set
    }

    private static func entries(of text: String) throws -> Int {
        struct Document: Decodable {
            struct Key: Decodable {}
            let keys: [Key]
        }
        return try JSONDecoder().decode(Document.self, from: Data(text.utf8)).keys.count
    }
}
