import CounterfoilStore
import PostgreSQLDriver

/// The error that opening a PostgreSQL database throws; its description is written for the operator.
public enum OpeningRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The connection string is not a URI of PostgreSQL, or libpq cannot parse it.
    case invalidString
    /// The connection string contains a password; the associated value is the name of the option.
    case passwordInString(option: String)
    /// An option of the connection string, an environment variable or the service file is wrong.
    case invalidOptions(reason: String)
    /// The password file cannot be used; its path, and the reason.
    case passwordFile(path: String, reason: String)
    /// No server gives a connection, which can pass by itself; each reason is one of libpq or of the server.
    case unreachable(database: String, reason: String, remedy: String)
    /// The server answers, and refuses the user or the name of the database.
    case rejected(database: String, reason: String, remedy: String)
    /// The server, or each of several, is a standby or otherwise read-only.
    case readOnly(database: String)
    /// The server is not PostgreSQL.
    case otherProduct(database: String, found: String)
    /// The server is too old.
    case tooOld(database: String, found: String, minimum: Int)
    /// The database has another encoding than UTF-8.
    case notUTF8(database: String, found: String)
    /// A pooler gives each transaction another connection, and does not know prepared statements.
    case poolerWithoutStatements(database: String)
    /// The database has no tables of this product.
    case noTables(database: String)
    /// The tables are from before version 1 of the schema, and cannot be upgraded.
    case unreleasedTables(database: String)
    /// The tables are those of an earlier version, which this version cannot use.
    case earlierTables(database: String)
    /// A later version has changed the tables so that this version cannot use them.
    case laterTables(database: String)
    /// The server has answered an error that does not pass by itself; nothing was changed.
    case failed(database: String, reason: String)
    /// The user lacks rights.
    case missingRights(database: String, reason: String, remedy: String)

    /// The cause and the action to take.
    public var description: String {
        switch self {
        case .invalidString:
            """
            the connection string is not valid (it is not shown, because it can contain a password); \
            write it as postgresql://USER@HOST:PORT/DATABASE, with %-escapes for special characters
            """
        case .passwordInString(let option):
            """
            the connection string contains a secret (\(option)), which other users of this machine can read; \
            remove it, and put the password into a password file (~/.pgpass, or passfile=PATH in the string), \
            a service file (service=NAME) or the environment variable PGPASSWORD
            """
        case .invalidOptions(let reason):
            "the connection string cannot be used (\(reason)); correct it, the environment or the service file"
        case .passwordFile(let path, let reason):
            """
            the password file \(path) cannot be used: \(reason); \
            make it private (chmod 600 FILE), or name another one (passfile=PATH in the connection string)
            """
        case .unreachable(let database, let reason, let remedy):
            "no connection to the database \(database) (\(reason)); \(remedy)"
        case .rejected(let database, let reason, let remedy):
            "the server of the database \(database) refuses the connection (\(reason)); \(remedy)"
        case .readOnly(let database):
            "the database \(database) is read-only; \(ConnectionObstacle.readOnly.remedy)"
        case .otherProduct(let database, let found):
            "the database \(database) is not PostgreSQL but \(found); use PostgreSQL 14 or later"
        case .tooOld(let database, let found, let minimum):
            "the database \(database) runs PostgreSQL \(found); upgrade it to version \(minimum) or later"
        case .notUTF8(let database, let found):
            """
            the database \(database) has the encoding \(found); create another one: \
            CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0
            """
        case .poolerWithoutStatements(let database):
            """
            the database \(database) is behind a pooler in transaction mode that does not support prepared \
            statements; use PgBouncer 1.21 or later with max_prepared_statements above 0, or set pool_mode=session, \
            or connect to PostgreSQL directly
            """
        case .noTables(let database):
            "the database \(database) has no tables of Counterfoil; create them: counterfoil-server migrate"
        case .unreleasedTables(let database):
            """
            the tables in the database \(database) are those of a version of Counterfoil from before the first \
            release, which no version can upgrade; nothing was changed; begin again with an empty database
            """
        case .earlierTables(let database):
            """
            the tables in the database \(database) are those of an earlier version; \
            upgrade them: counterfoil-server migrate
            """
        case .laterTables(let database):
            "a later version has changed the tables in the database \(database); use that version"
        case .failed(let database, let reason):
            "the database \(database) has refused a statement (\(reason)); nothing was changed"
        case .missingRights(let database, let reason, let remedy):
            "the user lacks rights in the database \(database): \(reason); run as its owner: \(remedy)"
        }
    }
}

extension OpeningRefusal {
    /// The refusal of a connection to a database, with the action to take.
    init(_ failure: ConnectionFailure, of database: String) {
        switch failure {
        case .invalidURI: self = .invalidString
        case .passwordInURI(let option): self = .passwordInString(option: option)
        case .invalidOptions(let reason): self = .invalidOptions(reason: reason)
        case .passwordFile(let path, let reason): self = .passwordFile(path: path, reason: reason)
        case .unreachable(let reason, let obstacle):
            self = .unreachable(database: database, reason: reason, remedy: obstacle.remedy)
        case .rejected(let reason, let obstacle):
            self = .rejected(database: database, reason: reason, remedy: obstacle.remedy)
        case .readOnly: self = .readOnly(database: database)
        case .otherProduct(let found): self = .otherProduct(database: database, found: found)
        case .tooOld(let found, let minimum): self = .tooOld(database: database, found: found, minimum: minimum)
        case .notUTF8(let found): self = .notUTF8(database: database, found: found)
        case .poolerWithoutStatements: self = .poolerWithoutStatements(database: database)
        }
    }

    /// The refusal of a database because of an error that may pass by itself.
    init(passing error: any Error, of database: String) {
        self = .unreachable(database: database, reason: "\(StoreFault(error))", remedy: ConnectionObstacle.other.remedy)
    }
}
