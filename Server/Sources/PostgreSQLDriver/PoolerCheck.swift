extension Connection {
    /// Connects as ``open(_:limits:)`` does, and refuses a pooler that this module cannot use.
    ///
    /// One check is enough for all connections to a database.
    package static func openChecked(
        _ uri: ConnectionURI, limits: SessionLimits
    ) throws(ConnectionFailure) -> OpenedConnection {
        let opened = try open(uri, limits: limits)
        if opened.hasPooler { try PoolerCheck(uri: uri, limits: limits).run(opened.connection) }
        return opened
    }
}

/// The check for a pooler in transaction mode that passes the names of prepared statements on unchanged.
///
/// Such a pooler gives the server connection of one client to another after each transaction. The evidence is that two
/// clients, which are connected at the same time, see the same server process, or one of them sees two. A pooler in
/// session mode passes names on, too, but each client has a server process of its own. A pooler that supports prepared
/// statements gives them names of its own.
private struct PoolerCheck {
    let uri: ConnectionURI
    let limits: SessionLimits

    func run(_ first: Connection) throws(ConnectionFailure) {
        guard let process = try serverProcess(of: first) else { return }
        let second: Connection
        do { second = try Connection.open(uri, limits: limits).connection } catch {
            // In transaction mode, this one would have got the server connection of the first one, which is idle. In
            // session mode, the pool has no other.
            if case .unreachable(_, .unanswered) = error { return }
            throw error
        }
        guard let other = try serverProcess(of: second), other != process else { throw .poolerWithoutStatements }
        // A pooler that gives its server connections in turn shows it to a client with two statements in a row.
        for _ in 0..<2 {
            guard try serverProcess(of: first) == process else { throw .poolerWithoutStatements }
        }
        for _ in 0..<2 {
            guard try serverProcess(of: second) == other else { throw .poolerWithoutStatements }
        }
    }

    /// Returns the server process that runs a prepared statement of a client; nil if the statement has another name
    /// there.
    private func serverProcess(of client: Connection) throws(ConnectionFailure) -> Int64? {
        let probe = Statement(
            "SELECT pg_backend_pid()::int8, EXISTS (SELECT 1 FROM pg_prepared_statements WHERE name = $1)", "")
        let named = Statement(probe.sql, probe.key.name)
        do {
            let answer = try client.exchange([named], by: .now + uri.connectLimit).first?.first { row in
                (process: try row.integer(), keepsName: try row.flag())
            }
            return answer.flatMap { $0.keepsName ? $0.process : nil }
        } catch let error as ServerError where error.state.showsPooler {
            throw .poolerWithoutStatements
        } catch {
            throw .unreachable(reason: "\(error)", obstacle: .unanswered)
        }
    }
}
