@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilSQL
import Foundation
import GRDB
import GRDBSQLite

/// A watch on the writer connection, which notices without a query what triggers insert into the table `endings`.
final class EndingsWatch: Sendable {
    /// The number of the first ending of the commit in progress.
    private let first = Mutex<Int64?>(nil)

    /// Installs this watch; the connection must not outlive it.
    func attach(to database: Database) {
        sqlite3_update_hook(
            database.sqliteConnection,
            { context, change, _, table, row in
                guard change == SQLITE_INSERT, let context, let table, strcmp(table, "endings") == 0 else { return }
                let watch = Unmanaged<EndingsWatch>.fromOpaque(context).takeUnretainedValue()
                watch.first.withLock { $0 = $0 ?? row }
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Runs the statements of a commit, and returns what they have ended.
    func commit<Value: Sendable>(
        _ write: (SQLConnection) throws -> Value, on connection: SQLConnection
    ) throws -> Committed<Value> {
        first.withLock { $0 = nil }
        let value = try write(connection)
        guard let number = first.withLock({ $0 }) else { return Committed(value, ending: []) }
        let kinds = try connection.all("SELECT DISTINCT kind FROM endings WHERE number >= ?", number) { try $0.text() }
        return Committed(value, ending: Set(kinds))
    }
}
