import CounterfoilClient
import CounterfoilPlatform

/// The configuration file of this user.
///
/// Its path is $COUNTERFOIL_CONFIG, else counterfoil/config.json in $XDG_CONFIG_HOME or in ~/.config. Without $HOME,
/// the home directory is that of the user database. The file decides at which server a user signs in, so a file that
/// other users can write is refused.
struct ConfigurationFile: Sendable {
    let path: String

    /// The maximum size of the file, in bytes.
    private static let byteLimit = 1024 * 1024

    /// The file that the environment names, or the standard one.
    static func ofThisUser(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> Self {
        if let path = environment["COUNTERFOIL_CONFIG"], !path.isEmpty { return Self(path: path) }
        if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") {
            return Self(path: "\(folder)/counterfoil/config.json")
        }
        return Self(path: "\(UserDataDirectory.homeDirectory(environment))/.config/counterfoil/config.json")
    }

    /// Reads the file; returns an empty configuration if it does not exist.
    func read() throws(Failure) -> Configuration {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            let reason = errno
            if reason == ENOENT || reason == ENOTDIR { return Configuration() }
            if reason == EACCES, let foreign = ForeignFile(keepingFrom: path) {
                throw failure("cannot be read: \(foreign)", .unsafe)
            }
            throw failure("cannot be read: \(String(cString: strerror(reason)))")
        }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            throw failure("is not a file")
        }
        guard facts.st_uid == geteuid() || facts.st_uid == 0 else {
            throw failure("cannot be used: \(ForeignFile(path: path, owner: facts.st_uid))", .unsafe)
        }
        guard facts.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
            throw failure("can be changed by other users; run: chmod go-w \(path)", .unsafe)
        }
        let bytes: [UInt8]
        do { bytes = try systemReadAll(descriptor, limit: Self.byteLimit + 1) } catch {
            throw failure("cannot be read: \(error)")
        }
        guard bytes.count <= Self.byteLimit else { throw failure("is longer than \(Self.byteLimit) bytes") }
        do throws(Configuration.Refusal) { return try Configuration(parsing: bytes) } catch {
            throw failure("cannot be used: \(error)")
        }
    }

    /// Changes the file, and creates it if necessary; returns false if the change leaves it as it is.
    ///
    /// Commands that change it at the same time wait for each other. A symbolic link stays, and its target changes.
    @discardableResult
    func update(_ change: (inout Configuration) -> Void) throws(Failure) -> Bool {
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let folder = URL(fileURLWithPath: target).deletingLastPathComponent().path
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            if let foreign = ForeignFile(keepingFrom: folder) {
                throw failure("cannot be written: \(foreign)", .unsafe)
            }
            throw failure("cannot be written: the directory \(folder) cannot be created")
        }
        let lock = open(folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
        guard lock >= 0, flock(lock, LOCK_EX) == 0 else { throw failure("cannot be locked") }
        defer { close(lock) }
        let former = try read()
        var configuration = former
        change(&configuration)
        guard configuration != former else { return false }
        do {
            try PrivateFile(path: target).replace(with: configuration.encoded)
        } catch TokenStoreError.failed(_, let reason) {
            throw failure("cannot be written: \(reason)")
        } catch { throw failure("cannot be written: \(error)") }
        return true
    }

    private func failure(_ reason: String, _ status: ExitStatus = .usage) -> Failure {
        Failure(status, "the configuration file \(path) \(reason)")
    }
}
