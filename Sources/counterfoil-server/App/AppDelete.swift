import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer

struct AppDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete an app, with all consent that users gave to it.",
        discussion: """
            There is no confirmation, and the deletion cannot be undone. The client_id, the secrets and all consent \
            are deleted, and pending authorization codes can no longer be redeemed.

            Example:
              counterfoil-server app delete CLIENT_ID --data-dir ./data
            """
    )

    @OptionGroup var app: AppArgument

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withDirectory(creating: false) { directory in
            guard let id = ClientIdentifier(app.clientID),
                let client = try await directory.store.clientOwnership(id)
            else {
                // If the deletion of this app was interrupted, there is no such app any more, but records are left.
                try await directory.finishRemovals()
                throw CommandFailure.noApp(app.clientID)
            }
            guard !client.isUnregistered else { throw CommandFailure.unregistered(id) }
            let record = try await StoreFault.readable { () async throws(StoreFault) in
                try await directory.store.client(id)
            }
            let event = directory.event(.application, client: id, detail: "deleted")
            guard try await directory.store.removeClient(id, recording: [event]) else {
                throw CommandFailure.noApp(app.clientID)
            }
            try await directory.finishRemovals()
            guard options.json else {
                let name = record.map { "\($0.displayName), " } ?? ""
                return Output.line("Deleted \(name)\(id), with all consent that users gave to it.")
            }
            guard let record else { return try Output.json(DeletedClientDocument(id)) }
            try Output.json(AppDocument(record))
        }
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
