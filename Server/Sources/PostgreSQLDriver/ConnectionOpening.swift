import CLibPQ

/// The limits that a new connection gets.
package struct SessionLimits: Sendable {
    /// The maximum time of a statement, unless the role or the connection string sets one.
    ///
    /// PostgreSQL does not count the commit itself, so that it never cancels one.
    package var statement: Duration
    /// The maximum time that a statement waits for a lock, unless the role or the connection string sets one.
    package var lock: Duration
    /// The maximum time between two statements of a transaction, unless the role or the connection string sets one.
    ///
    /// It ends the transaction of a node that is cut off, which would keep its locks.
    package var silence: Duration

    package init(
        statement: Duration = .seconds(5), lock: Duration = .seconds(2), silence: Duration = .seconds(10)
    ) {
        self.statement = statement
        self.lock = lock
        self.silence = silence
    }
}

/// A new connection, and what was learned while it was opened.
package struct OpenedConnection {
    package let connection: Connection
    /// Whether a pooler is between this process and the server.
    let hasPooler: Bool
    /// The time of the database.
    let clock: ClockMeasurement
}

extension Connection {
    /// Connects to the first server that can be written, and checks what it is.
    ///
    /// Each server gets the time of ``ConnectionURI/connectLimit``. libpq itself tries the next server only after
    /// some errors. It stops at a server that accepts the connection and then closes it or is silent. This function
    /// then tries the servers after that one.
    package static func open(
        _ uri: ConnectionURI, limits: SessionLimits = SessionLimits()
    ) throws(ConnectionFailure) -> OpenedConnection {
        var failure = ConnectionFailure.unreachable(reason: "no server is named")
        var rest = uri.hosts[...]
        while !rest.isEmpty {
            let attempt = ConnectionAttempt(uri, hosts: rest)
            do {
                return try attempt.run().readProperties(within: uri.connectLimit, limits)
            } catch {
                // A server of the wrong kind is no reason to look further.
                switch error {
                case .unreachable, .rejected, .readOnly: failure = error
                default: throw error
                }
            }
            rest = rest.dropFirst(attempt.tried)
        }
        throw failure
    }
}

/// The text of libpq about connections that failed, with the last SQLSTATE in it.
private struct LoginError {
    let message: String
    /// The text about the last of the servers.
    let last: String
    /// The SQLSTATE that the last of the servers has answered; nil if it has answered none.
    let state: SQLState?

    /// Parses a text in the form of `PQERRORS_VERBOSE`: `FATAL:  28P01: password authentication failed …` and then the
    /// place in the source of the server, which is left out.
    init(_ text: UnsafePointer<CChar>?) {
        let source = /LOCATION:\x20{2}\S+, \S+:\d+/
        let code = /:\x20{2}([0-9A-Z]{5}):\x20/
        let parts = LibPQText.line(text).split(separator: "; ").filter { $0.wholeMatch(of: source) == nil }
        // The text about each server begins like this, and can have several lines.
        let place = parts.lastIndex { $0.hasPrefix("connection to server") } ?? parts.startIndex
        last = parts[place...].joined(separator: ", ")
        state = parts[place...].lazy.compactMap { $0.firstMatch(of: code) }.first.map { SQLState(String($0.output.1)) }
        // The remedy follows the first semicolon of an error message.
        message = parts.filter { !$0.hasPrefix("Is the server running ") }
            .map { $0.replacing(code, maxReplacements: 1) { _ in ": " } }.joined(separator: ", ")
    }
}

/// One attempt to connect to one of several servers.
private final class ConnectionAttempt {
    /// The number of servers that need not be tried again.
    private(set) var tried = 1

    private let uri: ConnectionURI
    private let hosts: ArraySlice<ConnectionURI.Host>

    init(_ uri: ConnectionURI, hosts: ArraySlice<ConnectionURI.Host>) {
        self.uri = uri
        self.hosts = hosts
    }

    func run() throws(ConnectionFailure) -> Connection {
        guard let handle = LibPQStart.start(uri.options(for: hosts)) else {
            throw .unreachable(reason: "out of memory")
        }
        let notices = NoticeRecord()
        notices.attach(to: handle)
        // Errors during the connection have a SQLSTATE only in this form.
        PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        let connection: Connection
        do {
            try connect(handle)
            connection = Connection(taking: handle, notices: notices)
        } catch {
            PQfinish(handle)
            throw error
        }
        return connection
    }

    private func connect(_ handle: OpaquePointer) throws(ConnectionFailure) {
        guard PQstatus(handle) != CONNECTION_BAD else { throw failure(of: handle) }
        var server = hostIndex(of: handle)
        var deadline = ContinuousClock.now + uri.connectLimit
        // `PQconnectPoll` asks for this first.
        var events = SocketWait.Events.writing
        while true {
            guard case .ready = SocketWait.wait(PQsocket(handle), for: events, until: deadline) else {
                let seconds = uri.connectLimit.components.seconds
                throw failure(of: handle, reason: "no answer within \(seconds) s")
            }
            switch PQconnectPoll(handle) {
            case PGRES_POLLING_OK:
                tried = hostIndex(of: handle) + 1
                return
            case PGRES_POLLING_READING: events = .reading
            case PGRES_POLLING_WRITING: events = .writing
            default: throw failure(of: handle)
            }
            if hostIndex(of: handle) != server {
                server = hostIndex(of: handle)
                deadline = .now + uri.connectLimit
            }
        }
    }

    private func failure(of handle: OpaquePointer, reason: String? = nil) -> ConnectionFailure {
        tried = hostIndex(of: handle) + 1
        let answer = LoginError(PQerrorMessage(handle))
        let messages = [answer.message, reason ?? ""].filter { !$0.isEmpty }.joined(separator: ", ")
        // A server that is silent has answered nothing, though one before it may have.
        let obstacle =
            reason != nil
            ? .silence
            : PQconnectionNeedsPassword(handle) == 1
                ? .password : ConnectionObstacle(answer.state, saying: answer.last)
        switch obstacle {
        case .readOnly: return .readOnly
        case .password, .noRule, .noDatabase, .noRight: return .rejected(reason: messages, obstacle: obstacle)
        default: return .unreachable(reason: messages, obstacle: obstacle)
        }
    }

    /// The place of the server that libpq is trying in the list of this attempt; the last one if libpq does not tell.
    private func hostIndex(of handle: OpaquePointer) -> Int {
        let host = PQhost(handle).map { String(cString: $0) } ?? ""
        let port = PQport(handle).map { String(cString: $0) } ?? ""
        let index = hosts.firstIndex { candidate in
            // The name counts; without a name, `PQhost` returns the address or the default directory.
            let name = candidate.name.isEmpty ? candidate.address : candidate.name
            return (name.isEmpty || name == host) && candidate.port == port
        }
        return (index ?? hosts.endIndex - 1) - hosts.startIndex
    }
}
