import Foundation

/// The output of an export: a new file that is accessible to its owner only, or standard output.
struct ExportFile {
    private let handle: FileHandle
    /// The path of the file; nil for standard output.
    private let path: String?
    /// What the user must know after a failure.
    private let consequence: String

    /// Creates the file with the mode 0600, unless it exists.
    ///
    /// - Parameters:
    ///   - path: The path of the file; nil for standard output.
    ///   - consequence: The end of the message of a failure.
    init(at path: String?, onFailure consequence: String) throws {
        self.path = path
        self.consequence = consequence
        guard let path else {
            handle = .standardOutput
            return
        }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure.refused(
                "--output: cannot create the file \(path): \(String(cString: strerror(errno)))")
        }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    func write(_ bytes: Data) throws {
        do { try handle.write(contentsOf: bytes) } catch {
            throw CommandFailure.temporary(
                "cannot write to \(path ?? "standard output"), so the export is incomplete; \(consequence)")
        }
    }

    /// Syncs the file to the disk.
    func finish() throws {
        guard let path else { return }
        do { try handle.synchronize() } catch {
            throw CommandFailure.temporary("cannot sync the file \(path) to the disk; \(consequence)")
        }
    }

    /// Deletes the file, after a failure.
    func discard() {
        if let path { unlink(path) }
    }
}
