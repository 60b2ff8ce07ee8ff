@_spi(Counterfoil) import CounterfoilTokens
import Foundation

extension AdministrationRecord {
    /// Creates the record that the API has for a document of this machine.
    init(of document: some Encodable) throws {
        self.init(try JSONReader.object(Array(try Output.encoded(document))))
    }

    /// Returns the record as a document that this version knows.
    func decoded<Document: Decodable>(as type: Document.Type) throws -> Document {
        do { return try JSONDecoder().decode(type, from: try Output.encoded(self)) } catch is DecodingError {
            throw CommandFailure.refused(
                "the answer of the server has values that this version does not know; use the version of the server")
        }
    }
}
