import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore

extension Installation {
    /// Returns the identifier and the ownership of a client to delete, without reading its record; fails the command
    /// with `absent` if there is no such client.
    func deletableClient(
        _ argument: ClientArgument, otherwise absent: CommandFailure
    ) async throws -> (id: ClientIdentifier, ownership: ClientOwnership) {
        guard let id = ClientIdentifier(argument.clientID), let ownership = try await store.clientOwnership(id) else {
            // If the deletion of this app was interrupted, there is no such app any more, but records are left.
            try await finishRemovals()
            throw absent
        }
        return (id, ownership)
    }
}

extension Output {
    /// Prints that a client was deleted; `name` is nil if this version cannot read the record.
    static func line(deletedClient id: ClientIdentifier, named name: DisplayName?) {
        line("Deleted \(name.map { "\($0), " } ?? "")\(id), with all consent that users gave to it.")
    }
}

/// The known value of a deleted client whose record this version cannot read.
struct DeletedClientDocument: Encodable {
    private let clientID: String

    init(_ id: ClientIdentifier) { clientID = id.rawValue }

    private enum CodingKeys: String, CodingKey {
        case clientID = "client_id"
    }
}
