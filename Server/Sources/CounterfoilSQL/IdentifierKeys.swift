public import CounterfoilStore
import Foundation

extension SQLStore {
    /// Reads the stored keys of the identifiers; nil if there are none.
    public func identifierKeys() async throws(StoreFault) -> [UInt8]? {
        try await read { database in try database.identifierKeys() }
    }

    /// Returns the stored keys of the identifiers; if there are none, stores and returns `sealed`.
    public func identifierKeys(orStoring sealed: [UInt8]) async throws(StoreFault) -> [UInt8] {
        if let stored = try await identifierKeys() { return stored }
        return try await commit { database in
            if let stored = try database.identifierKeys() { return stored }
            try database.send("INSERT INTO identifier_keys (id, sealed) VALUES (1, ?)", Data(sealed))
            return sealed
        }
    }

    /// Replaces the stored keys of the identifiers if they are still `former`.
    public func replaceIdentifierKeys(_ former: [UInt8], with sealed: [UInt8]) async throws(StoreFault) {
        _ = try await commit { database in
            try database.run(
                "UPDATE identifier_keys SET sealed = ?2 WHERE sealed = ?1", Data(former), Data(sealed))
        }
    }
}

extension SQLConnection {
    fileprivate func identifierKeys() throws -> [UInt8]? {
        try first("SELECT sealed FROM identifier_keys") { columns in try columns.bytes() }
    }
}
