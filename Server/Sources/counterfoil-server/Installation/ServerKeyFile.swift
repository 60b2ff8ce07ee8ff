import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation

/// The file that contains the server key: 32 bytes, accessible to its owner only (mode 0600).
///
/// Former server keys can follow, 32 bytes each (``ServerKey``).
struct ServerKeyFile {
    let path: String
    private let location: Location

    private enum Location {
        /// A data directory, whose files are no links.
        case directory
        /// A credential of systemd, which the group may read.
        case credential
        case option
    }

    /// The maximum size in bytes that is read.
    private static let limit = 64 * 1024

    private init(at path: String, in location: Location) { (self.path, self.location) = (path, location) }

    /// The file that an option names.
    init(path: String) { self.init(at: path, in: .option) }

    /// The file in a data directory.
    init(in directory: String) {
        self.init(at: DataDirectory.file("server.key", in: directory), in: .directory)
    }

    /// The credential `server-key` of systemd (`LoadCredential=`); nil if there is none.
    static func credential(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> ServerKeyFile? {
        guard let directory = environment["CREDENTIALS_DIRECTORY"], !directory.isEmpty else { return nil }
        let file = ServerKeyFile(at: directory + "/server-key", in: .credential)
        return FileManager.default.fileExists(atPath: file.path) ? file : nil
    }

    /// The path of a new key until its database is there.
    ///
    /// A key under its own name shows that there was a database. So a start that is interrupted before can be repeated,
    /// and a lost database is noticed.
    private var draft: String { path + ".new" }

    /// Creates the key of a new database, unless an interrupted start has left one.
    func prepare() throws {
        guard try !isLeft() else { return }
        // In this order, because another process gives its draft the name before it removes the draft.
        guard !FileManager.default.fileExists(atPath: path) else { return }
        try make()
        // That process may have done so before this one made a draft.
        if FileManager.default.fileExists(atPath: path) { unlink(draft) }
    }

    /// Returns true if an interrupted start, or one that continues, has made a key; throws if it cannot be used.
    private func isLeft() throws -> Bool {
        guard FileManager.default.fileExists(atPath: draft) else { return false }
        do {
            guard try content(of: draft) != nil else {
                throw CommandFailure.refused("\(draft) is not a server key; delete it, and try again")
            }
        } catch {
            // Another process can have given it its name meanwhile.
            guard FileManager.default.fileExists(atPath: path) else { throw error }
        }
        return true
    }

    /// Reads the key of a database, and gives the key of a new database its name.
    ///
    /// What an interrupted start has left can be older than the database. It gets the name only if it opens everything
    /// that is sealed in the database, which in a new one is nothing.
    func key(of store: SQLiteStore) async throws -> ServerKey {
        let (named, left) = (FileIdentity(of: path), FileIdentity(of: draft))
        if named == nil, left != nil {
            try await adopt(for: store)
        } else if left != nil, named == left {
            // The process that gave the file its name was killed, or is about to remove the draft.
            unlink(draft)
        }
        return try read()
    }

    private func adopt(for store: SQLiteStore) async throws {
        do {
            guard let key = try content(of: draft), try await key.opens(store) else {
                throw CommandFailure.refused(
                    "the server key \(path) is missing, and \(draft) is not the key of the database; restore server.key "
                        + "from a backup, and delete the other file")
            }
        } catch {
            // Another process can have given the key its name meanwhile.
            guard FileManager.default.fileExists(atPath: path) else { throw error }
            return
        }
        // Unlike `rename`, `link` never replaces the key of another process.
        guard link(draft, path) == 0 || [EEXIST, ENOENT].contains(errno) else {
            throw CommandFailure.refused("cannot create the server key \(path): \(String(cString: strerror(errno)))")
        }
        unlink(draft)
        // No commit may be on the disk before the name of the key.
        do { try DraftFile.syncDirectory(of: path) } catch { throw CommandFailure(error) }
    }

    /// Reads the key.
    ///
    /// - Parameter checksMode: Whether to refuse a file that other users can access.
    func read(checkingMode checksMode: Bool = true) throws -> ServerKey {
        guard FileManager.default.fileExists(atPath: path) else {
            throw CommandFailure.refused(
                "the server key \(path) is missing, and the database is useless without it; restore it from a backup")
        }
        guard let key = try content(of: path, checkingMode: checksMode) else {
            throw CommandFailure.refused(
                "the server key \(path) is not 32 bytes (former keys can follow it, 32 bytes each); restore it from a "
                    + "backup")
        }
        return key
    }

    /// Reads the key in a file; nil if the file is no key.
    private func content(of path: String, checkingMode checksMode: Bool = true) throws -> ServerKey? {
        let file = try RegularFile(
            at: path, called: "the server key", advice: "run the command as its owner",
            followingLinks: location != .directory)
        guard !checksMode || file.mode & (location == .credential ? 0o027 : 0o077) == 0 else {
            throw CommandFailure.refused("other users can access the server key \(path); run: chmod 600 \(path)")
        }
        return ServerKey(bytes: try file.bytes(limit: Self.limit))
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
    /// Returns true if the key opens everything that is sealed in a store.
    fileprivate func opens(_ store: SQLiteStore) async throws(CommandFailure) -> Bool {
        do throws(StoreFault) {
            guard try await store.signingKeys().allSatisfy(opens) else { return false }
            return try await store.identifierKeys().map { opens(identifierKeys: $0) } ?? true
        } catch { throw CommandFailure(error) }
    }

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
