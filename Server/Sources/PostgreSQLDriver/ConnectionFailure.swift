/// The error that connecting to a database throws; nothing was changed.
package enum ConnectionFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The connection string is not a URI of PostgreSQL, or libpq cannot parse it.
    case invalidURI
    /// The connection string contains a password; the associated value is the name of the option.
    case passwordInURI(option: String)
    /// An option of the connection string, an environment variable or the service file is wrong.
    case invalidOptions(reason: String)
    /// The password file cannot be used; its path, and the reason.
    case passwordFile(path: String, reason: String)
    /// No server gives a connection, which can pass by itself; each reason is one of libpq or of the server.
    case unreachable(reason: String, obstacle: ConnectionObstacle = .other)
    /// The server answers, and refuses the user or the name of the database.
    case rejected(reason: String, obstacle: ConnectionObstacle)
    /// The server, or each of several, is a standby or otherwise read-only.
    case readOnly
    /// The server is not PostgreSQL.
    case otherProduct(found: String)
    /// The server is too old.
    case tooOld(found: String, minimum: Int)
    /// The database has another encoding than UTF-8.
    case notUTF8(found: String)
    /// A pooler gives each transaction another connection, and does not know prepared statements.
    case poolerWithoutStatements

    /// The cause, which never contains the connection string.
    package var description: String {
        switch self {
        case .invalidURI: "the connection string is not valid"
        case .passwordInURI(let option): "the connection string contains a secret (\(option))"
        case .invalidOptions(let reason): "the connection string cannot be used: \(reason)"
        case .passwordFile(let path, let reason): "the password file \(path) cannot be used: \(reason)"
        case .unreachable(let reason, _): "no connection: \(reason)"
        case .rejected(let reason, _): "the server refuses the connection: \(reason)"
        case .readOnly: "the database is read-only"
        case .otherProduct(let found): "the server is not PostgreSQL but \(found)"
        case .tooOld(let found, let minimum): "the server runs PostgreSQL \(found), which is older than \(minimum)"
        case .notUTF8(let found): "the database has the encoding \(found) instead of UTF8"
        case .poolerWithoutStatements: "a pooler in transaction mode does not support prepared statements"
        }
    }
}
