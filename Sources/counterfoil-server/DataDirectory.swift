import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import Foundation

/// The directory that holds everything a server keeps: the database, the server key, and the lock of the running server.
struct DataDirectory {
    /// The path.
    let path: String
    /// The key from which the server derives everything else.
    let serverKey: ServerKey
    /// The store.
    let store: SQLiteStore

    /// Opens a directory; what is missing is made, readable by its owner alone, or refused when nothing is to be made.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - creating: Whether what is missing is made.
    ///   - lock: The lock of the server that runs on it, when that is this process.
    ///   - isCallerAlone: For the store.
    init(
        at path: String, creating: Bool = true, lockedBy lock: ServingLock? = nil,
        isCallerAlone: @escaping @Sendable () -> Bool = { false }
    ) throws {
        self.path = path
        let database = Self.file("counterfoil.db", in: path)
        let keyFile = ServerKeyFile(path: Self.file("server.key", in: path))
        let isNew = !FileManager.default.fileExists(atPath: database)
        guard creating || !isNew else {
            throw CommandFailure.refused(
                "there is no data directory at \(path); check --data-dir, or make something there first")
        }
        try Self.make(path)
        // The key comes first, so that a database is never without the key that belongs to it, wherever a start ends.
        let givenKey = try ServerKey.fromEnvironment()
        if isNew, givenKey == nil { try keyFile.makeIfMissing() }
        do {
            store = try SQLiteStore(at: database, upgrading: lock != nil, isCallerAlone: isCallerAlone)
        } catch .earlierVersion {
            store = try Self.upgrade(database, in: path, isCallerAlone: isCallerAlone)
        } catch {
            throw CommandFailure(error)
        }
        serverKey = try givenKey ?? keyFile.read()
    }

    /// Notes what was done at a terminal of this machine; what was done is done, also when it cannot be noted.
    func note(
        _ kind: AuditEvent.Kind, person: PersonIdentifier? = nil, client: ClientIdentifier? = nil, detail: String
    ) async {
        let event = AuditEvent(
            at: Date(), kind, personID: person, clientID: client, detail: "at the command line: " + detail)
        do { try await store.appendAudit(event) } catch {
            Output.note("It was done, but it could not be noted in the audit log: \(error)")
        }
    }

    /// The issuer of the server that last ran on this directory, so that no application registers an address of it.
    var issuer: Issuer? {
        guard let text = try? String(contentsOfFile: Self.file("issuer", in: path), encoding: .utf8) else { return nil }
        return try? Issuer(text.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    /// The second origin of the server that last ran on this directory; nil where it has none.
    var callbackOrigin: CallbackOrigin? {
        guard let issuer,
            let text = try? String(contentsOfFile: Self.file("callback-origin", in: path), encoding: .utf8)
        else { return nil }
        return try? CallbackOrigin(text.trimmingCharacters(in: .whitespacesAndNewlines), issuer: issuer)
    }

    /// The schemes without a period that the server which last ran on this directory takes, so that the command line takes the
    /// same.
    var plainSchemes: Set<String> {
        guard let text = try? String(contentsOfFile: Self.file("plain-schemes", in: path), encoding: .utf8) else {
            return ServerSettings.standardPlainSchemes
        }
        return Set(text.split(separator: "\n").map(String.init).filter(PlainSchemes.isOne))
    }

    /// Notes of the server that runs now what registrations are judged by.
    func note(_ settings: ServerSettings) throws {
        try note(settings.issuer.rawValue, in: "issuer")
        try note(settings.callbackOrigin?.rawValue ?? "", in: "callback-origin")
        try note(settings.plainSchemes.sorted().joined(separator: "\n"), in: "plain-schemes")
    }

    private func note(_ text: String, in name: String) throws {
        try Data((text + "\n").utf8).write(
            to: URL(fileURLWithPath: Self.file(name, in: path)), options: .atomic)
    }

    /// Brings a store to this version, unless a server runs on it, which is one of the version before or just starts.
    private static func upgrade(
        _ database: String, in path: String, isCallerAlone: @escaping @Sendable () -> Bool
    ) throws -> SQLiteStore {
        let held = try lock(
            path,
            orRefuse: "the data directory \(path) is of an earlier version, and a server runs on it; "
                + "stop it when it is of that version, otherwise try again when it has started")
        defer { withExtendedLifetime(held) {} }
        do { return try SQLiteStore(at: database, isCallerAlone: isCallerAlone) } catch { throw CommandFailure(error) }
    }

    /// Takes a directory for one running server, before anything in it is touched; held until the process ends.
    static func lockForServing(_ path: String) throws -> ServingLock {
        try make(path)
        return try lock(
            path,
            orRefuse: "another server runs on \(path); stop it first, or choose another directory with --data-dir")
    }

    private static func lock(_ path: String, orRefuse refusal: String) throws -> ServingLock {
        try ServingLock(path: file("server.lock", in: path), orRefuse: refusal)
    }

    private static func make(_ path: String) throws {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandFailure.refused(
                "the data directory \(path) cannot be made; choose another with --data-dir, or give this user the right "
                    + "to write it")
        }
    }

    private static func file(_ name: String, in directory: String) -> String {
        URL(fileURLWithPath: directory).appendingPathComponent(name).path
    }
}

/// Schemes of redirect URIs that are no domain name in reverse, for which an operator answers.
enum PlainSchemes {
    /// Whether a text is a scheme in small letters (RFC 3986 §3.1) without a period, and none that a browser opens itself.
    static func isOne(_ text: String) -> Bool {
        text.wholeMatch(of: /[a-z][a-z0-9+\-]{1,63}/) != nil && !["http", "https"].contains(text)
            && !RedirectURI.isHandledByBrowsers(scheme: text)
    }
}

/// The lock that keeps a second server off a data directory; the system frees it when the process ends, however it ends.
final class ServingLock: Sendable {
    private let descriptor: Int32

    /// Takes the lock in a file, or says why it cannot be taken, with the words of `refusal` where another process has it.
    init(path: String, orRefuse refusal: String) throws {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure.refused("the lock \(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let reason = errno
            close(descriptor)
            guard reason == EWOULDBLOCK else {
                throw CommandFailure.refused("the lock \(path) cannot be taken: \(String(cString: strerror(reason)))")
            }
            throw CommandFailure.mayPass(refusal)
        }
    }

    deinit { close(descriptor) }
}

extension ServerKey {
    /// The name of the variable that holds a server key.
    static let variable = "COUNTERFOIL_SERVER_KEY"

    /// The key that the environment holds; nil when it holds none.
    ///
    /// What is there and is no key is refused: a server that went on with another key would sign everybody out.
    static func fromEnvironment(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> ServerKey? {
        guard let text = environment[variable] else { return nil }
        guard let bytes = Base64URL.decode(text), let key = ServerKey(bytes: bytes) else {
            throw CommandFailure.refused(
                "\(variable) is not a server key: 32 bytes in base64url without padding, which are 43 characters")
        }
        return key
    }
}

/// The file of the server key: 32 bytes, mode 0600.
struct ServerKeyFile {
    let path: String

    func makeIfMissing() throws {
        if !FileManager.default.fileExists(atPath: path) { try make() }
    }

    func read() throws -> ServerKey {
        guard FileManager.default.fileExists(atPath: path) else {
            throw CommandFailure.refused(
                "the server key \(path) is missing, and nothing opens the database without it; put it back from a backup"
            )
        }
        var status = stat()
        guard stat(path, &status) == 0, let bytes = FileManager.default.contents(atPath: path) else {
            throw CommandFailure.refused("the server key \(path) cannot be read; give this user the right to read it")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw CommandFailure.refused("the server key \(path) can be read by others; run: chmod 600 \(path)")
        }
        guard let key = ServerKey(bytes: Array(bytes)) else {
            throw CommandFailure.refused("the server key \(path) is not 32 bytes; restore it from a backup")
        }
        return key
    }

    /// Writes a new key beside its place and links it there, so that of two processes exactly one makes it and nobody ever
    /// reads half of it.
    private func make() throws {
        let draft = path + ".\(getpid())"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure.refused("the server key \(path) cannot be made: \(String(cString: strerror(errno)))")
        }
        defer { unlink(draft) }
        let bytes = ServerKey.newBytes()
        let written = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        let synced = fsync(descriptor)
        close(descriptor)
        guard written == bytes.count, synced == 0 else {
            throw CommandFailure.mayPass("the server key \(path) cannot be written: is the disk full?")
        }
        guard link(draft, path) == 0 || errno == EEXIST else {
            throw CommandFailure.refused("the server key \(path) cannot be made: \(String(cString: strerror(errno)))")
        }
    }
}
