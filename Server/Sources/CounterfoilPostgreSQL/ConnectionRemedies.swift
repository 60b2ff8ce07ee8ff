import PostgreSQLDriver

extension ConnectionObstacle {
    /// The action to take.
    var remedy: String {
        switch self {
        case .readOnly: "\(Self.elsewhere); after a failover, wait until a standby is promoted"
        case .connectionLimit:
            "raise the limit that the message names: max_connections of PostgreSQL, ALTER ROLE … CONNECTION LIMIT or "
                + "ALTER DATABASE … CONNECTION LIMIT; or lower database-connections of the servers"
        case .unanswered:
            "behind PgBouncer, raise default_pool_size and max_client_conn, or lower database-connections of the "
                + "servers; otherwise see the log of PostgreSQL"
        case .notYet: "wait until PostgreSQL has started; if it does not, see its log"
        case .password:
            "write the password into the password file (passfile=PATH in the connection string, or ~/.pgpass), which "
                + "the user of this command must be able to read"
        case .noRule: "create the role, or allow it in pg_hba.conf from this address and with this encryption"
        case .noDatabase: "correct the name of the database, or create it: CREATE DATABASE … ENCODING 'UTF8'"
        case .noRight: "run as the owner of the database: GRANT CONNECT ON DATABASE … TO …"
        case .encryption:
            "correct sslmode and sslrootcert in the connection string, or the certificate of PostgreSQL"
        case .unknownHost: "correct the host in the connection string, or its DNS entry"
        case .noListener: "correct the host and the port, start PostgreSQL, or set its listen_addresses"
        case .silence: "check the host, the firewall and the network between this machine and PostgreSQL"
        case .other: "check that PostgreSQL runs, and see its log"
        }
    }

    private static let elsewhere =
        "connect to the primary, or name all servers in the connection string: postgresql://USER@HOST1,HOST2/DATABASE"
}
