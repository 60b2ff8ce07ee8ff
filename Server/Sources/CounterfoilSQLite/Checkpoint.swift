import GRDB

extension Database {
    /// Truncates the WAL by a checkpoint; returns false if a reader, such as a copy, prevents it.
    ///
    /// All writers wait during the checkpoint. So it waits for readers for a limited time, and not as long as writers
    /// wait for each other.
    @discardableResult
    func truncateLog(waiting patience: Duration) -> Bool {
        let usual = try? Int.fetchOne(self, sql: "PRAGMA busy_timeout")
        try? execute(sql: "PRAGMA busy_timeout = \(Int(patience / .milliseconds(1)))")
        defer { if let usual { try? execute(sql: "PRAGMA busy_timeout = \(usual)") } }
        return (try? checkpoint(.truncate)) != nil
    }
}
