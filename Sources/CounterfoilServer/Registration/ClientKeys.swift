import CounterfoilTokens
import Foundation

/// The keys in a client's registration, `jwks` (RFC 7591 §2): public signature keys that the server can use.
enum ClientKeys {
    /// The most keys of a client: one that signs, and its successors.
    static let limit = 10

    /// Reads a JSON Web Key Set (RFC 7517 §5).
    ///
    /// A key set from the network may contain keys for other purposes, which a reader ignores. A registered
    /// key set must contain usable keys only. In particular, a private key is refused, because it must
    /// never have been sent here.
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
