import PostgreSQLTesting

@testable import PostgreSQLDriver

extension ConnectionURI {
    init(_ text: String) throws(ConnectionFailure) { try self.init(text, client: "driver tests") }
}

extension PostgreSQLServer {
    /// The URI of this server over TCP.
    func connectionURI(
        user: String = "counterfoil", database: String = "postgres", port: Int? = nil, _ options: String...
    ) throws -> ConnectionURI {
        try ConnectionURI(address(user: user, database: database, port: port, options))
    }

    /// The URI of this server over its Unix socket.
    func socketURI() throws -> ConnectionURI { try ConnectionURI(socketAddress) }
}
