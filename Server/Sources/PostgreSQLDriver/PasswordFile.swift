import Foundation

/// The password file of libpq.
///
/// libpq does not use a file that others can read, and writes a warning to standard error with each attempt to connect.
/// A check before the first attempt is an error once, with what to do.
enum PasswordFile {
    /// Throws if libpq would look for a password in a file that it does not use.
    ///
    /// - Parameters:
    ///   - options: The options of the connection string.
    ///   - environment: The environment of the process.
    static func check(
        _ options: [String: String], environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConnectionFailure) {
        func value(_ option: String, _ variable: String) -> String? {
            [options[option], environment[variable]].compactMap { $0 }.first { !$0.isEmpty }
        }
        // The service file may have a password, or name another file, and only libpq reads it.
        guard value("password", "PGPASSWORD") == nil, value("service", "PGSERVICE") == nil else { return }
        let home = environment["HOME"].flatMap { $0.isEmpty ? nil : "\($0)/.pgpass" }
        guard let path = value("passfile", "PGPASSFILE") ?? home else { return }
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .passwordFile(path: path, reason: "it is no regular file")
        }
        guard status.st_mode & (S_IRWXG | S_IRWXO) == 0 else {
            throw .passwordFile(path: path, reason: "other users have rights to it")
        }
    }
}
