import CLibPQ
import Foundation

/// The URI of a PostgreSQL database, without a secret.
///
/// libpq defines its form (PostgreSQL documentation, §34.1.1.2), and parses it. The environment variables of libpq, the
/// password file and the service file apply, too. A password comes from one of these.
package struct ConnectionURI: Sendable, Hashable, CustomStringConvertible {
    /// The URI as it was given; it contains no secret.
    private let text: String
    private let client: String
    /// A server that the URI names.
    struct Host: Sendable, Hashable {
        /// The name, the address or the directory of the socket; empty for the default of libpq.
        let name: String
        let address: String
        let port: String
    }
    /// The servers that are tried in this order.
    let hosts: [Host]
    /// The options that libpq gets in addition, because neither the URI nor the environment has them.
    let defaults: [String: String]
    /// The time limit of connecting to one server.
    package let connectLimit: Duration
    private let database: String

    /// Parses a URI and looks up what the environment and the service file add to it.
    ///
    /// - Parameters:
    ///   - text: A URI that begins with `postgresql://` or `postgres://`.
    ///   - client: The name that the server shows for the connections, unless the URI or the environment has one.
    /// - Throws: ``ConnectionFailure``, which never contains the URI. A password in the URI is refused, because other
    ///   users of the machine can read the arguments of a program.
    package init(_ text: String, client: String) throws(ConnectionFailure) {
        guard text.hasPrefix("postgresql://") || text.hasPrefix("postgres://"), !text.utf8.contains(0) else {
            throw .invalidURI
        }
        // libpq ends the host at the first `/`. A password with a `/` would become a part of the database's name.
        let place = text.drop { $0 != "/" }.dropFirst(2).prefix { $0 != "?" }
        guard !place.drop(while: { $0 != "/" }).contains("@") else { throw .invalidURI }
        var message: UnsafeMutablePointer<CChar>?
        let options = PQconninfoParse(text, &message)
        // The message can quote the string.
        PQfreemem(message)
        guard let options else { throw .invalidURI }
        let given = Self.values(options)
        PQconninfoFree(options)
        for secret in ["password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key"]
        where given[secret] != nil {
            throw .passwordInURI(option: secret)
        }
        // libpq would expand such a name of a database to a connection string of its own, with a password.
        guard given["dbname"]?.contains(where: { $0 == "=" || $0 == "/" }) != true else { throw .invalidURI }
        // A password without its `@` is such a port, so it is not shown.
        guard Self.arePorts(given["port"]) else { throw .invalidURI }
        try PasswordFile.check(given)
        let resolved = try Self.resolve(text)
        guard Self.arePorts(resolved["port"]) else { throw .invalidOptions(reason: "a port is not a number") }
        self.text = text
        self.client = client
        hosts = Self.hosts(resolved)
        defaults = Self.defaults(given: given, resolved: resolved)
        let limit = resolved["connect_timeout"].flatMap { Int($0) } ?? 0
        connectLimit = limit > 0 ? .seconds(limit) : Self.defaultConnectLimit
        database = resolved["dbname"] ?? resolved["user"] ?? "?"
    }

    /// The database and its servers, without the user and the options.
    package var description: String {
        let servers = hosts.map { host in
            let name = [host.name, host.address].first { !$0.isEmpty } ?? "the local socket"
            return name.contains(":") ? "[\(name)]:\(host.port)" : "\(name):\(host.port)"
        }
        return "\(database) at \(servers.joined(separator: ", "))"
    }

    /// The time limit of connecting to one server, unless `connect_timeout` sets another.
    private static let defaultConnectLimit = Duration.seconds(5)

    /// The options for an attempt to connect to some of the servers, as libpq takes them.
    func options(for hosts: ArraySlice<Host>) -> [(keyword: String, value: String)] {
        var options = [("dbname", text), ("fallback_application_name", client), ("client_encoding", "UTF8")]
        options += defaults.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        // The first attempt leaves the list to libpq.
        guard hosts.count < self.hosts.count else { return options }
        options.append(("host", hosts.map(\.name).joined(separator: ",")))
        options.append(("hostaddr", hosts.map(\.address).joined(separator: ",")))
        options.append(("port", hosts.map(\.port).joined(separator: ",")))
        return options
    }

    /// Returns true if a list contains only ports, or empty places for the default port.
    private static func arePorts(_ list: String?) -> Bool {
        (list ?? "").split(separator: ",").allSatisfy { port in
            port.allSatisfy { $0.isASCII && $0.isNumber } && (UInt16(port) ?? 0) > 0
        }
    }

    private static func defaults(given: [String: String], resolved: [String: String]) -> [String: String] {
        var defaults: [String: String] = [:]
        // Milliseconds for which sent data may stay unacknowledged, and seconds of silence before the other end is
        // probed.
        let tcp = [
            "tcp_user_timeout": "5000", "keepalives_idle": "15", "keepalives_interval": "5", "keepalives_count": "3",
        ]
        for (keyword, value) in tcp where (resolved[keyword] ?? "").isEmpty { defaults[keyword] = value }
        // The connections write. `any` is libpq's own default, and means no choice unless the URI says so.
        if given["target_session_attrs"] == nil, ["", "any"].contains(resolved["target_session_attrs"] ?? "") {
            defaults["target_session_attrs"] = "read-write"
        }
        return defaults
    }

    private static func hosts(_ resolved: [String: String]) -> [Host] {
        func list(_ keyword: String) -> [String] {
            (resolved[keyword] ?? "").split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        let (names, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
        let defaultPort = "5432"
        return (0..<max(names.count, addresses.count, 1)).map { index in
            // One port is for all servers.
            let port = ports.count == 1 ? ports[0] : ports.indices.contains(index) ? ports[index] : ""
            return Host(
                name: names.indices.contains(index) ? names[index] : "",
                address: addresses.indices.contains(index) ? addresses[index] : "",
                port: port.isEmpty ? defaultPort : port)
        }
    }

    /// Returns the options of libpq with what the environment and the service file add, without passwords.
    ///
    /// libpq has no function for it. An invalid option makes libpq stop after it has looked up all others, and before
    /// it connects.
    private static func resolve(_ text: String) throws(ConnectionFailure) -> [String: String] {
        let obstacle = "none-because-nothing-is-opened"
        guard let handle = LibPQStart.start([("dbname", text), ("channel_binding", obstacle)]) else {
            throw .invalidOptions(reason: "out of memory")
        }
        defer { PQfinish(handle) }
        let message = LibPQText.line(PQerrorMessage(handle))
        guard message.contains(obstacle), let options = PQconninfo(handle) else {
            throw .invalidOptions(reason: message)
        }
        defer { PQconninfoFree(options) }
        var resolved = values(options)
        resolved["password"] = nil
        resolved["sslpassword"] = nil
        return resolved
    }

    private static func values(_ options: UnsafeMutablePointer<PQconninfoOption>) -> [String: String] {
        var values: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { values[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return values
    }
}

/// The beginning of a connection.
enum LibPQStart {
    /// Begins to connect with options, of which the last of a name counts; nil without memory.
    ///
    /// It waits for nothing but the resolution of the host name.
    static func start(_ options: [(keyword: String, value: String)]) -> OpaquePointer? {
        withStrings(options.map(\.keyword)) { keywords in
            withStrings(options.map(\.value)) { values in PQconnectStartParams(keywords, values, 1) }
        }
    }

    /// Calls a function with strings as C has them: an array that ends with NULL.
    private static func withStrings<Result>(
        _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
    ) -> Result {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return (copies.map { UnsafePointer($0) } + [nil]).withUnsafeBufferPointer { body($0.baseAddress) }
    }
}
