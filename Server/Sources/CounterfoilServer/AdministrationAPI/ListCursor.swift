@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore

/// The position in a list of the administration API after which its next page begins.
///
/// A client gets it encrypted, bound to the list and to its filter.
struct ListCursor: Sendable {
    private let keys: DerivedKeys
    private let context: [UInt8]

    init(_ call: AdministrationCall, list: String) {
        keys = call.components.serverKey.listCursors
        let filter = call.query.filter.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
        context = Array(RecordDigest([list] + filter).text.utf8)
    }

    /// Returns the text for the client.
    func text(after position: String) throws -> String {
        Base64URL.encode(try keys.seal(Array(position.utf8), authenticating: context))
    }

    /// Returns the position of the parameter `cursor`; nil if it is absent; throws 400 if it is of another list.
    func position(in query: QueryValues) throws(ProblemError) -> String? {
        try query.value("cursor", rule: "It must be the member next of a page of this list with this filter.") { text in
            Base64URL.decode(text).flatMap { try? keys.open($0, authenticating: context).bytes }
                .map { String(decoding: $0, as: UTF8.self) }
        }
    }
}
