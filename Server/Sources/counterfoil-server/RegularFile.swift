import CoreFoundation
import Foundation

/// A regular file that a setting names, open for reading.
///
/// A server also reads such files while it runs. It opens them without waiting, because opening a FIFO would block it
/// until another process writes to it.
struct RegularFile: ~Copyable {
    private let path: String
    /// What the file is in an error message, such as "the settings file".
    private let name: String
    private let descriptor: CInt
    private let status: stat

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - name: What the file is in an error message.
    ///   - advice: The action to take if the file cannot be opened.
    ///   - followsLinks: Whether the file itself can be a link. A setting may name one; what the server itself has
    ///     written is none.
    init(
        at path: String, called name: String = "the file", advice: String = "check its name and permissions",
        followingLinks followsLinks: Bool = true
    ) throws(CommandFailure) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW))
        guard descriptor >= 0 else {
            let reason = errno
            guard followsLinks || reason != ELOOP else {
                throw .refused("\(name) \(path) is a link; put the file itself there")
            }
            throw .refused("cannot read \(name) \(path) (\(String(cString: strerror(reason)))); \(advice)")
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw .refused("\(name) \(path) is not a regular file; name a file, and no directory, pipe or device")
        }
        self.path = path
        self.name = name
        self.descriptor = descriptor
        self.status = status
    }

    deinit { close(descriptor) }

    /// The permission bits.
    var mode: Int { Int(status.st_mode & 0o777) }

    /// Whether root or the user of this process owns the file.
    var isOwn: Bool { status.st_uid == 0 || status.st_uid == geteuid() }

    /// Reads the text of a file that an option names, of at most `limit` bytes; errors name the option.
    ///
    /// - Parameter isSecret: Whether to refuse a file that all users can read, or others than its owner can change.
    static func text(
        at path: String, for option: String, limit: Int, isSecret: Bool = false
    ) throws(CommandFailure) -> String {
        do throws(CommandFailure) {
            let file = try RegularFile(at: path)
            if isSecret { try file.checkSecrecy() }
            return try file.text(limit: limit)
        } catch { throw .refused("\(option): \(error.message)") }
    }

    /// Throws if the mode of a file with a secret is too wide.
    ///
    /// The group may read it: the user of the server often is in a group of its own for this.
    private func checkSecrecy() throws(CommandFailure) {
        guard mode & 0o026 != 0 else { return }
        let reason = mode & 0o004 != 0 ? "every user can read" : "other users can change"
        throw .refused("\(reason) \(path) (mode 0\(String(mode, radix: 8))); run: chmod g-w,o-rw \(path)")
    }

    /// Reads the bytes; throws if there are more than `limit`.
    func bytes(limit: Int) throws(CommandFailure) -> [UInt8] {
        try InputFile.bytes(
            of: FileHandle(fileDescriptor: descriptor, closeOnDealloc: false), at: path, limit: limit)
    }

    /// Reads a UTF-8 text of at most `limit` bytes.
    func text(limit: Int) throws(CommandFailure) -> String {
        guard let text = String(validating: try bytes(limit: limit), as: UTF8.self) else {
            throw .refused("\(name) \(path) is not UTF-8 text")
        }
        return text
    }
}
