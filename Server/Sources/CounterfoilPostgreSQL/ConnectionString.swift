package import PostgreSQLDriver

/// The connection string of a PostgreSQL database, without a secret.
///
/// It is a URI as libpq defines it (PostgreSQL documentation, §34.1.1.2), and libpq parses it. The environment
/// variables of libpq, the password file and the service file apply, too. A password comes from one of these.
public struct ConnectionString: Sendable, Hashable, CustomStringConvertible {
    package let uri: ConnectionURI

    /// Parses a connection string and looks up what the environment and the service file add to it.
    ///
    /// - Parameter text: A URI that begins with `postgresql://` or `postgres://`.
    /// - Throws: ``OpeningRefusal``, which never contains the string. A password in the string is refused, because
    ///   other users of the machine can read the arguments of a program.
    public init(_ text: String) throws(OpeningRefusal) {
        do { uri = try ConnectionURI(text, client: "counterfoil") } catch { throw OpeningRefusal(error, of: "") }
    }

    /// The database and its servers, without the user and the options.
    public var description: String { uri.description }
}
