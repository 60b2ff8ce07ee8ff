extension Connection {
    /// The oldest version of PostgreSQL that this module supports.
    static let minimumVersion = 14

    /// Checks what the server is, and sets the limits of the session.
    ///
    /// It is one statement on each new connection, because after a failover the server can be another one.
    func readProperties(within limit: Duration, _ limits: SessionLimits) throws(ConnectionFailure) -> OpenedConnection {
        let start = ContinuousClock.now
        let deadline = start + limit
        let properties: SessionProperties
        do {
            let statement = Statement(
                SessionProperties.sql, processIdentifier, limits.statement.milliseconds, limits.lock.milliseconds,
                limits.silence.milliseconds)
            guard let read = try exchange([statement], by: deadline).first?.first(SessionProperties.init) else {
                throw ConnectionFailure.otherProduct(found: "a server that does not know itself")
            }
            properties = read
        } catch let failure as ConnectionFailure {
            throw failure
        } catch let loss as ConnectionLoss {
            throw .unreachable(reason: loss.reason, obstacle: .unanswered)
        } catch DatabaseFault.unavailable(let reason) {
            throw .unreachable(reason: reason)
        } catch let error as ServerError where error.state.showsPooler {
            throw .poolerWithoutStatements
        } catch let error as ServerError where error.state.isPassing {
            throw .unreachable(
                reason: error.description,
                obstacle: ConnectionObstacle(error.state, saying: error.message))
        } catch {
            throw .otherProduct(found: "a server without its functions (\(error))")
        }
        let clock = ClockMeasurement(sentAt: start, receivedAt: .now, microseconds: properties.clock)
        guard properties.product.hasPrefix("PostgreSQL ") else {
            let name = properties.product.prefix { $0 != " " && $0 != "(" }
            throw .otherProduct(found: String(name.prefix(40)))
        }
        guard properties.version >= Self.minimumVersion * 10_000 else {
            let found = properties.version < 100_000 ? "9" : "\(properties.version / 10_000)"
            throw .tooOld(found: found, minimum: Self.minimumVersion)
        }
        guard properties.encoding == "UTF8" else { throw .notUTF8(found: properties.encoding) }
        if let encoding = reported("client_encoding"), encoding != "UTF8" {
            throw .invalidOptions(reason: "the connection has the client_encoding \(encoding) instead of UTF8")
        }
        guard !properties.isReadOnly else { throw .readOnly }
        return OpenedConnection(connection: self, hasPooler: !properties.isDirect, clock: clock)
    }
}

/// The answer of a server to the first statement of a connection.
private struct SessionProperties {
    let product: String
    let version: Int64
    let encoding: String
    let isReadOnly: Bool
    let isDirect: Bool
    let clock: Int64

    /// The statement, which also sets the limits, unless the role has its own.
    ///
    /// Behind a pooler, the limits could stay on the connection of another client, so there the role has to set them.
    static let sql = """
        SELECT version(), current_setting('server_version_num')::int8, current_setting('server_encoding'),
            current_setting('transaction_read_only') = 'on', pg_backend_pid() = $1::int8,
            CASE WHEN pg_backend_pid() = $1 AND current_setting('statement_timeout') = '0'
                THEN set_config('statement_timeout', $2::int8::text, false) END,
            CASE WHEN pg_backend_pid() = $1 AND current_setting('lock_timeout') = '0'
                THEN set_config('lock_timeout', $3::int8::text, false) END,
            CASE WHEN pg_backend_pid() = $1 AND current_setting('idle_in_transaction_session_timeout') = '0'
                THEN set_config('idle_in_transaction_session_timeout', $4::int8::text, false) END,
            \(ClockMeasurement.sql)
        """

    init(_ columns: inout ResultRow) throws(DatabaseFault) {
        product = try columns.text()
        version = try columns.integer()
        encoding = try columns.text()
        isReadOnly = try columns.flag()
        isDirect = try columns.flag()
        for _ in 0..<3 { _ = try columns.optionalText() }
        clock = try columns.integer()
    }
}

extension Duration {
    fileprivate var milliseconds: Int64 { Int64(self / .milliseconds(1)) }
}
