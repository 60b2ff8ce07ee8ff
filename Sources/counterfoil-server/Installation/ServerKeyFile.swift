import CounterfoilProtocol
import CounterfoilServer
import Foundation

/// The file that contains the server key: 32 bytes, accessible to its owner only (mode 0600).
///
/// Former server keys can follow, 32 bytes each (``ServerKey``).
struct ServerKeyFile {
    let path: String
    /// Whether the group may read the file, as that of a credential of systemd.
    private var isCredential = false

    /// The maximum size in bytes that is read.
    private static let limit = 64 * 1024

    init(path: String) { self.path = path }

    /// The credential `server-key` of systemd (`LoadCredential=`); nil if there is none.
    static func credential(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> ServerKeyFile? {
        guard let directory = environment["CREDENTIALS_DIRECTORY"], !directory.isEmpty else { return nil }
        var file = ServerKeyFile(path: directory + "/server-key")
        file.isCredential = true
        return FileManager.default.fileExists(atPath: file.path) ? file : nil
    }

    /// The path of a new key until its database is there.
    ///
    /// A key under its own name shows that there was a database. So a start that is interrupted before can be repeated,
    /// and a lost database is noticed.
    private var draft: String { path + ".new" }

    /// Creates the key of a new database, unless there is one.
    func prepare() throws {
        guard ![path, draft].contains(where: FileManager.default.fileExists(atPath:)) else { return }
        try make()
    }

    /// Gives the key of a new database its name, now that the database is there.
    func adopt() throws {
        guard FileManager.default.fileExists(atPath: draft) else { return }
        // Unlike `rename`, `link` never replaces the key of another process.
        guard link(draft, path) == 0 || [EEXIST, ENOENT].contains(errno) else {
            throw CommandFailure.refused("cannot create the server key \(path): \(String(cString: strerror(errno)))")
        }
        unlink(draft)
    }

    /// Reads the key.
    ///
    /// - Parameter checksMode: Whether to refuse a file that other users can access.
    func read(checkingMode checksMode: Bool = true) throws -> ServerKey {
        guard FileManager.default.fileExists(atPath: path) else {
            throw CommandFailure.refused(
                "the server key \(path) is missing, and the database is useless without it; restore it from a backup")
        }
        let file = try RegularFile(at: path, called: "the server key", advice: "run the command as its owner")
        guard !checksMode || file.mode & (isCredential ? 0o027 : 0o077) == 0 else {
            throw CommandFailure.refused("other users can access the server key \(path); run: chmod 600 \(path)")
        }
        guard let key = ServerKey(bytes: try file.bytes(limit: Self.limit)) else {
            throw CommandFailure.refused(
                "the server key \(path) is not 32 bytes (former keys can follow it, 32 bytes each); restore it from a "
                    + "backup")
        }
        return key
    }

    /// Writes a new key to a temporary file and links it to the path of the draft.
    ///
    /// If two processes do this at the same time, exactly one of them creates the key, and neither reads an incomplete
    /// key.
    private func make() throws {
        let written = path + ".\(getpid())"
        // A process with this number can have left it, which was killed.
        unlink(written)
        let descriptor = open(written, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure.refused("cannot create the server key \(path): \(String(cString: strerror(errno)))")
        }
        defer { unlink(written) }
        let bytes = ServerKey.newBytes()
        let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        let synced = fsync(descriptor)
        close(descriptor)
        guard count == bytes.count, synced == 0 else {
            throw CommandFailure.temporary("cannot write the server key \(path); check that the disk is not full")
        }
        guard link(written, draft) == 0 || errno == EEXIST else {
            throw CommandFailure.refused("cannot create the server key \(path): \(String(cString: strerror(errno)))")
        }
    }
}

extension ServerKey {
    /// The environment variable that can hold the server key.
    static let variable = "COUNTERFOIL_SERVER_KEY"

    /// Returns the key that the environment gives: in a variable, or in the file of a credential; nil if in neither.
    static func given() throws -> ServerKey? {
        if let key = try fromEnvironment() { return key }
        return try ServerKeyFile.credential()?.read()
    }

    /// Reads the key from the environment, followed by former keys after commas; nil if the variable is not set.
    ///
    /// An invalid value is an error, because a server that continued with another key would sign every user out.
    static func fromEnvironment(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> ServerKey? {
        guard let text = environment[variable] else { return nil }
        let keys = text.split(separator: ",", omittingEmptySubsequences: false).map { part in
            Base64URL.decode(String(part)).flatMap { $0.count == size ? $0 : nil }
        }
        guard !keys.contains(nil), let key = ServerKey(bytes: keys.compactMap(\.self).flatMap(\.self)) else {
            throw CommandFailure.refused(
                "\(variable) is not a server key; it must be 32 bytes in base64url without padding, 43 characters, "
                    + "with or without former keys after it, separated by commas, at most \(limit) in all")
        }
        return key
    }
}
