/// The cause for which a server gives no connection.
///
/// A server names the cause by a SQLSTATE (PostgreSQL documentation, appendix A); the language of its text is that of
/// `lc_messages`. What happens before the server answers has only the text of libpq, which is English because this
/// program sets no locale, or of PgBouncer, which is English always.
package enum ConnectionObstacle: Hashable, Sendable, CaseIterable {
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
}
