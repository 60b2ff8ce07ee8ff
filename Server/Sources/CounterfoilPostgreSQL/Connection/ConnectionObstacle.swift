/// The cause for which a server gives no connection, and what the operator does about it.
///
/// A server names the cause by a SQLSTATE (PostgreSQL documentation, appendix A); the language of its text is that of
/// `lc_messages`. What happens before the server answers has only the text of libpq, which is English because this
/// program sets no locale, or of PgBouncer, which is English always.
public enum ConnectionObstacle: Hashable, Sendable, CaseIterable {
    /// The server, or each of several, is a standby or otherwise read-only.
    case readOnly
    /// All connections that the server, the role or the database has are in use, or reserved for other users.
    case connectionLimit
    /// The connection was accepted and then not answered, as by a pooler whose server connections are all in use.
    case unanswered
    /// The server starts, recovers or stops.
    case notYet
    /// The password is wrong or missing.
    case password
    /// The role is missing, or `pg_hba.conf` does not allow the connection.
    case noRule
    /// There is no database of that name.
    case noDatabase
    /// The role has no right to connect to the database.
    case noRight
    /// The two sides do not agree on TLS, or the certificate of the server is not accepted.
    case encryption
    /// The name of the host has no address.
    case unknownHost
    /// Nothing listens at the address.
    case noListener
    /// No answer comes from the address.
    case silence
    case other

    init(_ state: SQLState?, saying text: String) {
        switch state?.code {
        case "25006": self = .readOnly
        case SQLState.tooManyConnections.code: self = .connectionLimit
        case "57P01", "57P02", "57P03": self = .notYet
        case "28P01": self = .password
        case "28000": self = .noRule
        case "3D000": self = .noDatabase
        case "42501": self = .noRight
        default: self = Self.withoutState.first { $0.texts.contains(where: text.contains) }?.obstacle ?? .other
        }
    }

    /// Texts of libpq; PgBouncer has the same SQLSTATE for every cause, 08P01.
    private static let withoutState: [(obstacle: ConnectionObstacle, texts: [String])] = [
        (.unanswered, ["max_client_conn", "query_wait_timeout"]),
        (.readOnly, ["session is read-only", "server is in hot standby mode"]),
        (.password, ["no password supplied"]),
        (.encryption, ["does not support SSL", "certificate", "SSL error: tlsv1 alert", "SSL error: sslv3 alert"]),
        (.unknownHost, ["could not translate host name"]),
        (.noListener, ["Connection refused", "No such file or directory"]),
        (.silence, ["no answer within", "timeout expired", "timed out", "No route to host", "Network is unreachable"]),
    ]

    /// The action to take.
    public var remedy: String {
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

    static let elsewhere =
        "connect to the primary, or name all servers in the connection string: postgresql://USER@HOST1,HOST2/DATABASE"
}
